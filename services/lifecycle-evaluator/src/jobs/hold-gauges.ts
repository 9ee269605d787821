import { type Logger, type Pool, type Stoppable, startPeriodic } from "@lapse/kit";
import type { EvaluatorMetrics } from "../metrics.ts";
import { countWaitingHolds } from "../store/sweep-holds.ts";

const EVERY_MS = 5_000;

/** Shows how many holds wait for a confirmation. Every replica does, so that none shows what is over. */
export function startHoldGauges({
  pool,
  log,
  counters,
}: {
  readonly pool: Pool;
  readonly log: Logger;
  readonly counters: Pick<EvaluatorMetrics, "holds">;
}): Stoppable {
  return startPeriodic({
    name: "hold gauges",
    everyMs: EVERY_MS,
    async work() {
      const { breaker, clock } = await countWaitingHolds(pool);
      counters.holds.set({ kind: "breaker" }, breaker);
      counters.holds.set({ kind: "clock" }, clock);
    },
    log,
  });
}
