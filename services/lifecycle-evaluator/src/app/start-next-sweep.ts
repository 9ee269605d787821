import { newId } from "@lapse/kit";
import { isSweepDue } from "../domain/sweep-schedule.ts";
import { giveUpOn } from "../store/sweep-candidates.ts";
import { lockSweepControl, noteSweepStart } from "../store/sweep-control.ts";
import {
  findRequestedSweep,
  interruptRunningSweep,
  loadLastSweep,
  markHeld,
  startSweep,
} from "../store/sweeps.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";

/**
 * Records the next sweep as running, if one is asked for or the schedule says so (T23, T25); its id, or
 * null. The holder of the lease runs one at a time, so another that is recorded as running lost its
 * process: it is interrupted.
 */
export async function startNextSweep(
  deps: EvaluatorDeps,
  lease: SweepLease,
): Promise<string | null> {
  return underLease(deps, lease, async (tx) => {
    const control = await lockSweepControl(tx);
    const interrupted = await interruptRunningSweep(tx);
    if (interrupted !== undefined) {
      // Nobody waits for its answers any more; those that come still land in its record.
      await giveUpOn(tx, interrupted, 0);
      deps.log.warn({ sweep_id: interrupted }, "a sweep was interrupted: its process is gone");
    }
    const requested = await findRequestedSweep(tx);
    if (requested !== undefined && control.paused) {
      await markHeld(tx, requested.sweepId, "paused");
      return null;
    }
    const last = await loadLastSweep(tx);
    const due = isSweepDue(
      {
        intervalSeconds: deps.rules.intervalSeconds,
        paused: control.paused,
        lastStartedAt: control.lastStartedAt,
        lastHeld: last?.status === "held",
      },
      control.now,
    );
    if (requested === undefined && !due) {
      return null;
    }
    const sweepId = requested?.sweepId ?? newId();
    await startSweep(tx, sweepId);
    await noteSweepStart(tx);
    return sweepId;
  });
}
