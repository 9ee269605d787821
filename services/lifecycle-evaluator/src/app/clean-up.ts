import { databaseClock, type Pool } from "@lapse/kit";
import { firstKeptReadDay, firstKeptSweep, forgetBefore } from "../domain/keeping.ts";
import { deleteForgettableTables } from "../store/forgettable-tables.ts";
import { deleteHoldsBefore } from "../store/sweep-holds.ts";
import { deleteSweepsBefore } from "../store/sweep-records.ts";
import { deleteReadsBefore } from "../store/table-reads.ts";

/** Rows deleted by one statement: few enough that nobody waits for it. */
const READS_AT_ONCE = 5_000;
const TABLES_AT_ONCE = 1_000;
/** Each takes its tables along. */
const SWEEPS_AT_ONCE = 5;
const HOLDS_AT_ONCE = 1_000;

/** How long what is kept for a time is kept, in retention days. */
export interface KeepingRules {
  readonly readDays: number;
  readonly daySeconds: number;
}

/**
 * Deletes in small steps what has been kept long enough: reads per day (T17), records of sweeps and of holds that
 * are over, rows of tables that are gone.
 */
export async function cleanUp(
  pool: Pool,
  { readDays, daySeconds }: KeepingRules,
  signal: AbortSignal,
): Promise<void> {
  const now = await databaseClock(pool).now();
  const day = firstKeptReadDay(now, readDays, daySeconds);
  await whileAny(signal, () => deleteReadsBefore(pool, { day, limit: READS_AT_ONCE }));
  await whileAny(signal, () =>
    deleteSweepsBefore(pool, { before: firstKeptSweep(now), limit: SWEEPS_AT_ONCE }),
  );
  await whileAny(signal, () =>
    deleteHoldsBefore(pool, { before: firstKeptSweep(now), limit: HOLDS_AT_ONCE }),
  );
  await whileAny(signal, () =>
    deleteForgettableTables(pool, { before: forgetBefore(now), limit: TABLES_AT_ONCE }),
  );
}

async function whileAny(signal: AbortSignal, deleteSome: () => Promise<number>): Promise<void> {
  while (!signal.aborted && (await deleteSome()) > 0) {
    // On to the next step.
  }
}
