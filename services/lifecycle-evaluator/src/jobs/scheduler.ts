import { holdLease, type Lease, onNotify, type Stoppable, stoppable } from "@lapse/kit";
import type { EvaluatorDeps } from "../app/deps.ts";
import { SWEEP_REQUESTED } from "../app/request-sweep.ts";
import { runSweep } from "../app/run-sweep.ts";
import { startNextSweep } from "../app/start-next-sweep.ts";
import { SCHEDULER_LEASE } from "../app/sweep-lease.ts";
import { watchClock } from "../app/watch-clock.ts";
import { Alarm } from "./alarm.ts";

const LOOK_EVERY_MS = 500;
const AFTER_FAULT_MS = 1_000;

/** Runs the sweeps, by the schedule and on request, whenever this process holds the lease (T23). */
export function startScheduler(
  deps: EvaluatorDeps,
  { holder, leaseTtlMs }: { readonly holder: string; readonly leaseTtlMs: number },
): Stoppable {
  const { pool, log } = deps;
  const alarm = new Alarm();
  const requests = onNotify(pool, SWEEP_REQUESTED, () => alarm.ring(), { log });
  const lease = holdLease({
    pool,
    name: SCHEDULER_LEASE,
    holder,
    ttlMs: leaseTtlMs,
    onAcquired: (held) => sweepWhileHeld(deps, held, alarm),
    log,
  });
  return stoppable(async () => {
    await Promise.all([lease.stop(), requests.stop()]);
  });
}

async function sweepWhileHeld(deps: EvaluatorDeps, lease: Lease, alarm: Alarm): Promise<void> {
  const { signal } = lease;
  signal.addEventListener("abort", () => deps.metrics.held.reset());
  while (!signal.aborted) {
    try {
      // The clock is looked at with every turn, also while nothing is due, or everything is held.
      const sweep = (await watchClock(deps, lease)) ? await startNextSweep(deps, lease) : null;
      if (sweep === null) {
        await alarm.wait(LOOK_EVERY_MS, signal);
      } else {
        await runSweep(deps, sweep, lease);
      }
    } catch (error) {
      if (!signal.aborted) {
        // The record still says running; the next start finds it so and marks it interrupted.
        deps.log.error({ err: error }, "a sweep failed");
        await alarm.wait(AFTER_FAULT_MS, signal);
      }
    }
  }
}
