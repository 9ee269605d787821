import type { Queryable } from "@lapse/kit";
import type { HeldReason, StreamPosition, Sweep, SweepStatus } from "../domain/sweep.ts";

interface SweepRow extends Record<string, unknown> {
  sweep_id: string;
  status: SweepStatus;
  requested_by: string;
  started_at: Date | null;
  finished_at: Date | null;
  fence: { stream: string; sequence: string }[];
  due: number;
  capped: boolean;
  held_reason: string;
  tally: { outcome: "dropped" | "kept" | "failed"; reason: string; tables: number }[];
}

const SWEEPS = `
  select s.sweep_id, s.status, s.requested_by, s.started_at, s.finished_at, s.fence, s.due, s.capped,
    s.held_reason,
    coalesce(
      (select json_agg(t order by t.outcome, t.reason) from sweep_tally t where t.sweep_id = s.sweep_id),
      '[]') as tally
  from sweep s`;

function toSweep(row: SweepRow): Sweep {
  const count = (outcome: string): number =>
    row.tally
      .filter((each) => each.outcome === outcome)
      .reduce((sum, { tables }) => sum + tables, 0);
  return {
    sweepId: row.sweep_id,
    status: row.status,
    requestedBy: row.requested_by,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    fence: row.fence.map(({ stream, sequence }) => ({ stream, sequence: BigInt(sequence) })),
    due: row.due,
    dropped: count("dropped"),
    kept: Object.fromEntries(
      row.tally
        .filter(({ outcome }) => outcome === "kept")
        .map(({ reason, tables }) => [reason, tables]),
    ),
    failed: count("failed"),
    capped: row.capped,
    heldReason: row.held_reason,
  };
}

/** The sweep; undefined: there is none of that id, or its record is deleted. */
export async function loadSweep(db: Queryable, sweepId: string): Promise<Sweep | undefined> {
  const { rows } = await db.query<SweepRow>(`${SWEEPS} where s.sweep_id = $1`, [sweepId]);
  const [row] = rows;
  return row && toSweep(row);
}

/** The newest first, those before `before` only. */
export async function listSweeps(
  db: Queryable,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<readonly Sweep[]> {
  const { rows } = await db.query<SweepRow>(
    `${SWEEPS} where $1::uuid is null or s.sweep_id < $1 order by s.sweep_id desc limit $2`,
    [before, limit],
  );
  return rows.map(toSweep);
}

/** The sweep that started last, `except` left out; undefined: none has. */
export async function loadLastSweep(db: Queryable, except?: string): Promise<Sweep | undefined> {
  const { rows } = await db.query<SweepRow>(
    `${SWEEPS} where s.started_at is not null and s.sweep_id is distinct from $1::uuid
     order by s.started_at desc, s.sweep_id desc limit 1`,
    [except ?? null],
  );
  const [row] = rows;
  return row && toSweep(row);
}

/** Asks for a sweep; the id of the one that waits, which may be another's. */
export async function requestSweep(
  tx: Queryable,
  { sweepId, requestedBy }: { readonly sweepId: string; readonly requestedBy: string },
): Promise<string> {
  const { rows } = await tx.query<{ sweep_id: string }>(
    `insert into sweep (sweep_id, status, requested_by) values ($1, 'requested', $2)
     on conflict (status) where status = 'requested'
     -- Changes nothing, and has the row that was there returned.
     do update set requested_by = sweep.requested_by
     returning sweep_id`,
    [sweepId, requestedBy],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error("a requested sweep was neither stored nor found");
  }
  return row.sweep_id;
}

/** The sweep somebody waits for; undefined: nobody does. */
export async function findRequestedSweep(
  tx: Queryable,
): Promise<{ readonly sweepId: string; readonly requestedBy: string } | undefined> {
  const { rows } = await tx.query<{ sweep_id: string; requested_by: string }>(
    `select sweep_id, requested_by from sweep where status = 'requested'`,
  );
  const [row] = rows;
  return row && { sweepId: row.sweep_id, requestedBy: row.requested_by };
}

/** Records that a sweep runs from now on; it is stored if the schedule starts it. */
export async function startSweep(tx: Queryable, sweepId: string): Promise<void> {
  await tx.query(
    `insert into sweep (sweep_id, status, started_at) values ($1, 'running', now())
     on conflict (sweep_id) do update set status = 'running', started_at = now()`,
    [sweepId],
  );
}

/** What ran when its process died runs no more. What it has issued may still be answered. */
export async function interruptRunningSweep(tx: Queryable): Promise<string | undefined> {
  const { rows } = await tx.query<{ sweep_id: string }>(
    `update sweep set status = 'interrupted', finished_at = now() where status = 'running'
     returning sweep_id`,
  );
  return rows[0]?.sweep_id;
}

/** Records up to where everything counts. */
export async function recordFence(
  tx: Queryable,
  sweepId: string,
  fence: readonly StreamPosition[],
): Promise<void> {
  const positions = fence.map(({ stream, sequence }) => ({ stream, sequence: String(sequence) }));
  await tx.query(`update sweep set fence = $2 where sweep_id = $1`, [
    sweepId,
    JSON.stringify(positions),
  ]);
}

/** Records the end of a sweep; when that is. */
export async function completeSweep(
  tx: Queryable,
  sweepId: string,
  { capped }: { readonly capped: boolean },
): Promise<Date> {
  const { rows } = await tx.query<{ finished_at: Date }>(
    `update sweep set status = 'completed', finished_at = now(), capped = $2 where sweep_id = $1
     returning finished_at`,
    [sweepId, capped],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error(`the record of sweep ${sweepId} is gone`);
  }
  return row.finished_at;
}

/** Records that a sweep was held. */
export async function markHeld(tx: Queryable, sweepId: string, reason: HeldReason): Promise<void> {
  await tx.query(
    `update sweep set status = 'held', started_at = coalesce(started_at, now()), finished_at = now(),
       held_reason = $2
     where sweep_id = $1`,
    [sweepId, reason],
  );
}

/**
 * Counts one more attempt of a held sweep, in place of a record of its own: an outage of a day is one
 * record.
 */
export async function countHeldAgain(
  tx: Queryable,
  { earlier, sweepId }: { readonly earlier: string; readonly sweepId: string },
): Promise<void> {
  await tx.query(`delete from sweep where sweep_id = $1`, [sweepId]);
  await tx.query(
    `update sweep set attempts = attempts + 1, finished_at = now() where sweep_id = $1`,
    [earlier],
  );
}

/** Deletes the records, at most `limit`, of sweeps that ended before `before`; how many. */
export async function deleteSweepsBefore(
  db: Queryable,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from sweep where sweep_id in (
       select sweep_id from sweep where started_at < $1 and finished_at < $1 order by started_at limit $2)`,
    [before, limit],
  );
  return rowCount ?? 0;
}
