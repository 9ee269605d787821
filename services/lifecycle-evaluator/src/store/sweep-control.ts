import type { Queryable } from "@lapse/kit";

/** When a sweep of the schedule last started. */
export interface SweepControl {
  readonly lastStartedAt: Date | null;
  /** The database clock. */
  readonly now: Date;
}

interface ControlRow extends Record<string, unknown> {
  last_started_at: Date | null;
  now: Date;
}

const CONTROL = `select last_started_at, now()::timestamptz(3) as now from sweep_control`;

/** The control as it is. */
export const loadSweepControl = (db: Queryable): Promise<SweepControl> => load(db, CONTROL);

/**
 * The control, not to be changed by another until the transaction ends: nothing starts while it is being
 * paused.
 */
export const lockSweepControl = (tx: Queryable): Promise<SweepControl> =>
  load(tx, `${CONTROL} for update`);

async function load(db: Queryable, sql: string): Promise<SweepControl> {
  const { rows } = await db.query<ControlRow>(sql);
  const [row] = rows;
  if (row === undefined) {
    throw new Error("sweep_control has lost its row");
  }
  return { lastStartedAt: row.last_started_at, now: row.now };
}

/** The schedule counts from now. */
export async function noteSweepStart(tx: Queryable): Promise<void> {
  await tx.query(`update sweep_control set last_started_at = now()`);
}
