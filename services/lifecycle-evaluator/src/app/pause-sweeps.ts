import {
  appendDecision,
  type CallContext,
  invalid,
  type Queryable,
  withTransaction,
} from "@lapse/kit";
import { SERVICE } from "../service-name.ts";
import { lockSweepControl } from "../store/sweep-control.ts";
import { deletePause, findPause, savePause } from "../store/sweep-pauses.ts";
import { authorise, tenantOf } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { SWEEPS } from "./request-sweep.ts";

/**
 * Pauses the sweeps of the caller's tenant: none picks its tables until they are resumed; one that runs ends
 * first (T25). Other tenants are swept as before.
 *
 * @throws as `authorise`; invalid `TENANT_REQUIRED` for a service that acts for nobody
 */
export async function pauseSweeps(
  deps: EvaluatorDeps,
  reason: string,
  call: CallContext,
): Promise<void> {
  await authorise(deps, call, "sweep.manage", SWEEPS);
  const tenant = ownTenant(call);
  await withTransaction(deps.pool, async (tx) => {
    const { now } = await lockSweepControl(tx);
    const before = await findPause(tx, tenant);
    await savePause(tx, tenant, { pausedBy: call.principal.subject, reason });
    if (before === undefined) {
      await decide(tx, call, "SWEEP_PAUSED", reason === "" ? {} : { note: reason }, now);
    }
  });
}

/**
 * Lets the sweeps of the caller's tenant run again (T25).
 *
 * @throws as `authorise`; invalid `TENANT_REQUIRED` for a service that acts for nobody
 */
export async function resumeSweeps(deps: EvaluatorDeps, call: CallContext): Promise<void> {
  await authorise(deps, call, "sweep.manage", SWEEPS);
  const tenant = ownTenant(call);
  await withTransaction(deps.pool, async (tx) => {
    const { now } = await lockSweepControl(tx);
    const before = await findPause(tx, tenant);
    if (before !== undefined) {
      await deletePause(tx, tenant);
      await decide(tx, call, "SWEEP_RESUMED", { paused_by: before.pausedBy }, now);
    }
  });
}

function ownTenant({ principal }: CallContext): string {
  const tenant = tenantOf(principal);
  if (tenant === null) {
    throw invalid(
      "TENANT_REQUIRED",
      "a pause is of one organisation: act for somebody of it, or turn the schedule off",
    );
  }
  return tenant;
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
