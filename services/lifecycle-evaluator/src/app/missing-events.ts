import { setTimeout as delay } from "node:timers/promises";
import { missingRanges, type Pool, type Queryable, unavailable } from "@lapse/kit";
import { anyStillMissing, countMissing } from "../domain/missing-range.ts";
import type { FenceOptions } from "./fence.ts";

const LOOK_EVERY_MS = 50;

/** How many events are known to be missing, by stream: those on their way, and those that a stream has lost. */
export async function missingEvents(db: Queryable): Promise<ReadonlyMap<string, bigint>> {
  return countMissing(await missingRanges(db));
}

/**
 * Waits until every event that is missing now has come: one on its way does so by itself, one that is lost
 * is asked for again.
 *
 * @throws unavailable `SIGNAL_MISSING` when one has not within `timeoutMs`
 */
export async function awaitMissingEvents(
  pool: Pool,
  { timeoutMs, signal }: FenceOptions,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const missing = await missingRanges(pool);
  for (let still = missing; anyStillMissing(missing, still); still = await missingRanges(pool)) {
    if (performance.now() >= deadline || signal.aborted) {
      const counts = [...countMissing(still)];
      throw unavailable(
        "SIGNAL_MISSING",
        "events are known to be missing and are being asked for again; repeat the call",
        { details: Object.fromEntries(counts.map(([stream, count]) => [stream, String(count)])) },
      );
    }
    await delay(LOOK_EVERY_MS);
  }
}
