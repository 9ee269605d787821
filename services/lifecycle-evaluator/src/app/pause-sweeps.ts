import { appendDecision, type CallContext, type Queryable, withTransaction } from "@lapse/kit";
import { SERVICE } from "../service-name.ts";
import { lockSweepControl, setPaused } from "../store/sweep-control.ts";
import { authorise } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { SWEEPS } from "./request-sweep.ts";

/**
 * Pauses the sweeps: none starts until they are resumed; one that runs ends first (T25).
 *
 * @throws denied `RIGHT_MISSING`
 */
export async function pauseSweeps(
  deps: EvaluatorDeps,
  reason: string,
  call: CallContext,
): Promise<void> {
  await authorise(deps, call, "sweep.manage", SWEEPS);
  await withTransaction(deps.pool, async (tx) => {
    const { paused, now } = await lockSweepControl(tx);
    await setPaused(tx, { by: call.principal.subject, reason });
    if (!paused) {
      await decide(tx, call, "SWEEP_PAUSED", reason === "" ? {} : { note: reason }, now);
    }
  });
}

/**
 * Lets the sweeps run again (T25).
 *
 * @throws denied `RIGHT_MISSING`
 */
export async function resumeSweeps(deps: EvaluatorDeps, call: CallContext): Promise<void> {
  await authorise(deps, call, "sweep.manage", SWEEPS);
  await withTransaction(deps.pool, async (tx) => {
    const { paused, pausedBy, now } = await lockSweepControl(tx);
    await setPaused(tx, null);
    if (paused) {
      await decide(tx, call, "SWEEP_RESUMED", { paused_by: pausedBy }, now);
    }
  });
}

async function decide(
  tx: Queryable,
  { principal, traceparent }: CallContext,
  type: "SWEEP_PAUSED" | "SWEEP_RESUMED",
  details: Record<string, string>,
  now: Date,
): Promise<void> {
  await appendDecision(
    tx,
    {
      service: SERVICE,
      tenant: principal.tenant,
      actor: principal.subject,
      type,
      resource: SWEEPS,
      outcome: "done",
      reason: "request",
      details,
      traceparent,
    },
    now,
  );
}
