import type { Logger } from "./log.ts";
import { startPeriodic } from "./periodic.ts";
import type { Pool, Queryable } from "./postgres.ts";
import type { Stoppable } from "./stoppable.ts";
import { withTransaction } from "./transaction.ts";

const EVERY_MS = 60_000;
const BATCH = 1_000;
const IDEMPOTENCY_KEEP_HOURS = 24;
const CLOCK_HOLD_KEEP_DAYS = 90;

/** Keeps the kit's own tables small, on a timer of its own, in short transactions. */
export function startCleanup({
  pool,
  outboxKeepDays,
  log,
}: {
  readonly pool: Pool;
  readonly outboxKeepDays: number;
  readonly log: Logger;
}): Stoppable {
  return startPeriodic({
    name: "cleanup",
    everyMs: EVERY_MS,
    firstMs: EVERY_MS * Math.random(),
    log,
    work: async (signal) => {
      await cleanOutbox(pool, outboxKeepDays, signal);
      await cleanIdempotency(pool, signal);
      await cleanClockHolds(pool, signal);
    },
  });
}

/**
 * Deletes events published more than `keepDays` ago, the smallest numbers first; an event that is still
 * unsent keeps all after it. Gives how many were deleted.
 */
export async function cleanOutbox(
  pool: Pool,
  keepDays: number,
  signal?: AbortSignal,
): Promise<number> {
  const { rows } = await pool.query<{ stream: string }>(
    "select stream from lapse_kit.outbox_stream order by stream",
  );
  let total = 0;
  for (const { stream } of rows) {
    for (let count = BATCH; count === BATCH && !signal?.aborted; total += count) {
      count = await withTransaction(pool, (tx) => deleteOldest(tx, stream, keepDays));
    }
  }
  return total;
}

/** Which number is the first kept is stored, so that the next look does not pass over what was deleted. */
async function deleteOldest(tx: Queryable, stream: string, keepDays: number): Promise<number> {
  const { rows } = await tx.query<{ from: bigint }>(
    `select first_kept_sequence as "from" from lapse_kit.outbox_stream
     where stream = $1 for update skip locked`,
    [stream],
  );
  const from = rows[0]?.from;
  // Another replica is at it, or a relay is giving out numbers: next time.
  if (from === undefined) return 0;
  const { rows: old } = await tx.query<{ count: number }>(
    `with oldest as (
       select sequence, published_at < now() - make_interval(days => $3) as is_old
       from lapse_kit.outbox where stream = $1 and sequence >= $2 order by sequence limit $4
     )
     select count(*)::int as count from oldest
     where sequence < coalesce(
       (select min(sequence) from oldest where is_old is not true),
       (select max(sequence) + 1 from oldest))`,
    [stream, from, keepDays, BATCH],
  );
  const count = old[0]?.count ?? 0;
  if (count === 0) return 0;
  const next = from + BigInt(count);
  await tx.query(
    "delete from lapse_kit.outbox where stream = $1 and sequence >= $2 and sequence < $3",
    [stream, from, next],
  );
  await tx.query("update lapse_kit.outbox_stream set first_kept_sequence = $2 where stream = $1", [
    stream,
    next,
  ]);
  return count;
}

/** Forgets answers to calls older than a day. Gives how many were deleted. */
export function cleanIdempotency(pool: Pool, signal?: AbortSignal): Promise<number> {
  return deleteInBatches(signal, (limit) =>
    pool.query(
      `delete from lapse_kit.idempotency where ctid = any (array(
         select ctid from lapse_kit.idempotency
         where created_at < now() - make_interval(hours => $1)
         order by created_at limit $2 for update skip locked))`,
      [IDEMPOTENCY_KEEP_HOURS, limit],
    ),
  );
}

/** Forgets holds of the clock that ended 90 days ago. Gives how many were deleted. */
export function cleanClockHolds(pool: Pool, signal?: AbortSignal): Promise<number> {
  return deleteInBatches(signal, (limit) =>
    pool.query(
      `delete from lapse_kit.clock_hold where ctid = any (array(
         select ctid from lapse_kit.clock_hold
         where ended_at < now() - make_interval(days => $1)
         order by ended_at limit $2 for update skip locked))`,
      [CLOCK_HOLD_KEEP_DAYS, limit],
    ),
  );
}

/** Repeats `deleteSome` until it finds less than it may take; how many it deleted in all. */
async function deleteInBatches(
  signal: AbortSignal | undefined,
  deleteSome: (limit: number) => Promise<{ readonly rowCount: number | null }>,
): Promise<number> {
  let total = 0;
  for (let count = BATCH; count === BATCH && !signal?.aborted; total += count) {
    count = (await deleteSome(BATCH)).rowCount ?? 0;
  }
  return total;
}
