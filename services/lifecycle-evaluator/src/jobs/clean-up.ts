import { type Logger, type Pool, type Stoppable, startPeriodic } from "@lapse/kit";
import { cleanUp, type KeepingRules } from "../app/clean-up.ts";

const EVERY_MS = 600_000;
const FIRST_MS = 30_000;

/**
 * Deletes every ten minutes what has been kept long enough. Every replica does: what one has deleted the
 * other does not find.
 */
export function startCleanUp(
  { pool, log }: { readonly pool: Pool; readonly log: Logger },
  keeping: KeepingRules,
): Stoppable {
  return startPeriodic({
    name: "clean-up",
    everyMs: EVERY_MS,
    // Replicas that start together take turns.
    firstMs: FIRST_MS * (1 + Math.random()),
    work: (signal) => cleanUp(pool, keeping, signal),
    log,
  });
}
