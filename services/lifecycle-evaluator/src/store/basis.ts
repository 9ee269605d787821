import type { Queryable } from "@lapse/kit";

/** What every table's due time rests on besides its own row. */
export interface Basis {
  /** The database clock at the start of the transaction. */
  readonly now: Date;
  readonly daySeconds: number;
  readonly signalFloorAt: Date | null;
}

interface BasisRow extends Record<string, unknown> {
  now: Date;
  day_seconds: number;
  signal_floor_at: Date | null;
}

/**
 * The basis, held as it is until the transaction ends: whoever changes it recomputes the due times of all
 * tables, and must find those that this transaction writes.
 */
export async function holdBasis(tx: Queryable): Promise<Basis> {
  const { rows } = await tx.query<BasisRow>(
    `select now()::timestamptz(3) as now, day_seconds, signal_floor_at from evaluation_basis for share`,
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error("evaluation_basis has lost its row");
  }
  return { now: row.now, daySeconds: row.day_seconds, signalFloorAt: row.signal_floor_at };
}

/**
 * Sets the length of a retention day; whether it was another. The due times follow by {@link
 * recomputeOwnDue}.
 */
export async function setDaySeconds(tx: Queryable, daySeconds: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update evaluation_basis set day_seconds = $1 where day_seconds <> $1`,
    [daySeconds],
  );
  return rowCount === 1;
}

/** From now on every table counts as active no earlier than now: activity may have been lost. */
export async function raiseSignalFloor(tx: Queryable): Promise<void> {
  await tx.query(`update evaluation_basis set signal_floor_at = greatest(signal_floor_at, now())`);
}

/** Brings the due times by tables' own rules in line with the basis, in one statement; of how many tables. */
export async function recomputeOwnDue(tx: Queryable): Promise<number> {
  // A million tables take longer than a statement of the pool may.
  await tx.query(`set local statement_timeout = 0`);
  const { rowCount } = await tx.query(`
    update table_state t
    set own_due_at = own_due_at(
      t.rule_kind, t.rule_days, t.rule_on, t.last_activity_at, b.signal_floor_at, b.day_seconds)
    from evaluation_basis b
    where t.rule_kind = 'days'`);
  return rowCount ?? 0;
}
