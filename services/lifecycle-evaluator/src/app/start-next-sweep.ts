import { ANY_TENANT, newId } from "@lapse/kit";
import { isScheduleTurn } from "../domain/sweep-schedule.ts";
import { giveUpOn } from "../store/sweep-candidates.ts";
import { lockSweepControl, noteSweepStart } from "../store/sweep-control.ts";
import { isEverybodyPaused } from "../store/sweep-pauses.ts";
import { wasLastScheduledHeld } from "../store/sweep-records.ts";
import {
  findRequestedSweep,
  holdPausedRequests,
  interruptRunningSweep,
  startSweep,
} from "../store/sweeps.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";

/** A sweep that is recorded as running. */
export interface StartedSweep {
  readonly sweepId: string;
  /** Whose tables it serves; `*`: everybody's. */
  readonly tenant: string;
}

/**
 * Records the next sweep as running, if one is asked for or the schedule says so (T23, T25); null: neither. Who
 * has waited longest goes first. The holder of the lease runs one at a time, so another that is recorded as
 * running lost its process: it is interrupted.
 */
export async function startNextSweep(
  deps: EvaluatorDeps,
  lease: SweepLease,
): Promise<StartedSweep | null> {
  return underLease(deps, lease, async (tx) => {
    const { now, lastStartedAt } = await lockSweepControl(tx);
    const interrupted = await interruptRunningSweep(tx);
    if (interrupted !== undefined) {
      // Nobody waits for its answers any more; those that come still land in its record.
      await giveUpOn(tx, interrupted, 0);
      deps.log.warn({ sweep_id: interrupted }, "a sweep was interrupted: its process is gone");
    }
    await holdPausedRequests(tx);
    const requested = await findRequestedSweep(tx);
    const schedule = {
      intervalSeconds: deps.rules.intervalSeconds,
      paused: await isEverybodyPaused(tx),
      lastStartedAt,
      lastHeld: await wasLastScheduledHeld(tx),
    };
    const scheduled = isScheduleTurn(schedule, {
      now,
      waitingSince: requested?.requestedAt ?? null,
    });
    const next = scheduled ? { sweepId: newId(), tenant: ANY_TENANT } : (requested ?? null);
    if (next !== null) {
      await startSweep(tx, next);
      if (next.tenant === ANY_TENANT) {
        await noteSweepStart(tx);
      }
    }
    return next;
  });
}
