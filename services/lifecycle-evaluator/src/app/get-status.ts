import { type CallContext, LapseError } from "@lapse/kit";
import type { EvaluatorStatus } from "../domain/evaluator-status.ts";
import { FOLDED_STREAMS, type StreamHead } from "../domain/fence.ts";
import { nextSweepAt } from "../domain/sweep-schedule.ts";
import { loadPositions } from "../store/fold-positions.ts";
import { findLeaseHolder } from "../store/lease-holders.ts";
import { loadSweepControl } from "../store/sweep-control.ts";
import { findPause } from "../store/sweep-pauses.ts";
import { loadLastSweep, wasLastScheduledHeld } from "../store/sweep-records.ts";
import { authorise, tenantOf } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { missingEvents } from "./missing-events.ts";
import { SWEEPS } from "./request-sweep.ts";
import { SCHEDULER_LEASE } from "./sweep-lease.ts";

/**
 * How far each stream is folded, whether the caller's tenant is swept, and who runs the sweeps.
 *
 * @throws as `authorise`
 */
export async function getStatus(deps: EvaluatorDeps, call: CallContext): Promise<EvaluatorStatus> {
  await authorise(deps, call, "table.read", SWEEPS);
  const { pool, rules } = deps;
  const viewer = tenantOf(call.principal);
  const [heads, positions, missing, control, pause, lastSweep, lastHeld, scheduler] =
    await Promise.all([
      headsIfReachable(deps),
      loadPositions(pool),
      missingEvents(pool),
      loadSweepControl(pool),
      findPause(pool, call.principal.tenant),
      loadLastSweep(pool, { viewer }),
      wasLastScheduledHeld(pool),
      findLeaseHolder(pool, SCHEDULER_LEASE),
    ]);
  const next = nextSweepAt({
    intervalSeconds: rules.intervalSeconds,
    paused: pause !== undefined,
    lastStartedAt: control.lastStartedAt,
    lastHeld,
  });
  return {
    folds: FOLDED_STREAMS.map((stream) => ({
      stream,
      foldedSequence: positions.get(stream)?.sequence ?? 0n,
      lastSequence: heads.find((head) => head.stream === stream)?.sequence ?? null,
      missing: missing.get(stream) ?? 0n,
    })),
    paused: pause !== undefined,
    pausedBy: pause?.pausedBy ?? "",
    pauseReason: pause?.reason ?? "",
    intervalSeconds: rules.intervalSeconds,
    // One that is overdue starts at once.
    nextSweepAt: next && new Date(Math.max(next.getTime(), control.now.getTime())),
    lastSweep,
    scheduler: scheduler ?? "",
  };
}

async function headsIfReachable({ fence }: EvaluatorDeps): Promise<readonly StreamHead[]> {
  try {
    return await fence.heads();
  } catch (error) {
    if (error instanceof LapseError && error.kind === "unavailable") {
      return [];
    }
    throw error;
  }
}
