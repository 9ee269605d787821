import { setTimeout as delay } from "node:timers/promises";
import {
  type CallContext,
  newId,
  notFound,
  type Principal,
  precondition,
  type Queryable,
  withTransaction,
} from "@lapse/kit";
import type { Sweep } from "../domain/sweep.ts";
import { lockSweepControl } from "../store/sweep-control.ts";
import { findPause } from "../store/sweep-pauses.ts";
import { loadSweep } from "../store/sweep-records.ts";
import { requestSweep as storeRequest } from "../store/sweeps.ts";
import { authorise, tenantOf } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";

/** Notified when a sweep is asked for. */
export const SWEEP_REQUESTED = "lapse_sweep_requested";

/** The sweeps, as the audit log names what belongs to no table. */
export const SWEEPS = { kind: "evaluator", id: "sweeps", name: "sweeps", environment: "" } as const;

const LOOK_EVERY_MS = 100;

/** How the request is made once: an idempotency key may stand in its way. */
export type RequestOnce = (
  tx: Queryable,
  work: () => Promise<{ readonly sweepId: string }>,
) => Promise<{ readonly sweepId: string }>;

/**
 * Asks for a sweep of the tenant's tables now, whatever the schedule (T25), and waits until it has ended or
 * `waitSeconds` are over. Who of the tenant asks while one waits gets that one. A service that acts for nobody
 * has everybody's swept.
 *
 * @throws precondition `SWEEPS_PAUSED`; as `authorise`
 */
export async function requestSweep(
  deps: EvaluatorDeps,
  { waitSeconds, once }: { readonly waitSeconds: number; readonly once: RequestOnce },
  call: CallContext,
): Promise<Sweep> {
  await authorise(deps, call, "sweep.manage", SWEEPS);
  const { sweepId } = await withTransaction(deps.pool, (tx) =>
    once(tx, () => request(tx, call.principal)),
  );
  return awaitEnd(deps, sweepId, waitSeconds, call);
}

async function request(
  tx: Queryable,
  { subject, tenant }: Principal,
): Promise<{ sweepId: string }> {
  await lockSweepControl(tx);
  const pause = await findPause(tx, tenant);
  if (pause !== undefined) {
    const why = pause.reason === "" ? "" : ` (${pause.reason})`;
    throw precondition(
      "SWEEPS_PAUSED",
      `${pause.pausedBy} has paused the sweeps${why}; resume them first`,
    );
  }
  const sweepId = await storeRequest(tx, { sweepId: newId(), tenant, requestedBy: subject });
  await tx.query(`select pg_notify($1, '')`, [SWEEP_REQUESTED]);
  return { sweepId };
}

async function awaitEnd(
  { pool }: EvaluatorDeps,
  sweepId: string,
  waitSeconds: number,
  { principal, signal }: CallContext,
): Promise<Sweep> {
  const deadline = performance.now() + waitSeconds * 1000;
  for (;;) {
    const sweep = await loadSweep(pool, sweepId, tenantOf(principal));
    if (sweep === undefined) {
      throw notFound("SWEEP_NOT_FOUND", `the record of sweep ${sweepId} is deleted`);
    }
    const ended = sweep.status !== "requested" && sweep.status !== "running";
    if (ended || performance.now() >= deadline || signal.aborted) {
      return sweep;
    }
    await delay(LOOK_EVERY_MS);
  }
}
