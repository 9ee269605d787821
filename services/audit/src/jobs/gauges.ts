import { type Logger, type Metrics, type Pool, type Stoppable, startPeriodic } from "@lapse/kit";
import { findSourceGaps, gapSize } from "../app/find-source-gaps.ts";
import { countRecords } from "../store/chain-head.ts";

const EVERY_MS = 10_000;

/** Keeps the gauges of the log up to date: how many records it holds, and how many decisions it lacks. */
export function startGauges({
  pool,
  log,
  metrics,
}: {
  readonly pool: Pool;
  readonly log: Logger;
  readonly metrics: Metrics;
}): Stoppable {
  const gaps = metrics.gauge("lapse_audit_gaps", "Decisions that were sent and have not arrived");
  const head = metrics.gauge("lapse_audit_chain_head", "Records in the chains of all tenants");
  return startPeriodic({
    name: "audit gauges",
    everyMs: EVERY_MS,
    log,
    async work() {
      gaps.set(Number(gapSize(await findSourceGaps(pool))));
      head.set(Number(await countRecords(pool)));
    },
  });
}
