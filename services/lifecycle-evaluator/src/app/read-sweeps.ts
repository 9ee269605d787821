import { type CallContext, notFound } from "@lapse/kit";
import type { Sweep, SweepOutcome } from "../domain/sweep.ts";
import { listOutcomes } from "../store/sweep-candidates.ts";
import { loadSweep, listSweeps as storedSweeps } from "../store/sweep-records.ts";
import { authorise, tenantOf } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { SWEEPS } from "./request-sweep.ts";

/** What one answer holds at most. */
const MAX_OUTCOMES = 10_000;

/** A sweep with what became of its tables, those of the caller's tenant. */
export interface SweepWithOutcomes {
  readonly sweep: Sweep;
  readonly outcomes: readonly SweepOutcome[];
}

/**
 * One sweep, with the counts of the caller's tenant; one of another tenant's tables alone does not exist for it.
 *
 * @throws not_found `SWEEP_NOT_FOUND`; as `authorise`
 */
export async function getSweep(
  deps: EvaluatorDeps,
  sweepId: string,
  call: CallContext,
): Promise<SweepWithOutcomes> {
  await authorise(deps, call, "table.read", SWEEPS);
  const sweep = await loadSweep(deps.pool, sweepId, tenantOf(call.principal));
  if (sweep === undefined) {
    throw notFound(
      "SWEEP_NOT_FOUND",
      `there is no sweep ${sweepId}; look at the list of sweeps, whose records are kept for 90 days`,
    );
  }
  const outcomes = await listOutcomes(deps.pool, sweepId, {
    tenant: tenantOf(call.principal),
    limit: MAX_OUTCOMES,
  });
  return { sweep, outcomes };
}

/** One page of sweeps, the newest first. */
export interface SweepPage {
  readonly sweeps: readonly Sweep[];
  /** The id to go on before; null: this was the last page. */
  readonly next: string | null;
}

/**
 * The sweeps that the caller's tables were in, with the counts of those.
 *
 * @throws as `authorise`
 */
export async function listSweeps(
  deps: EvaluatorDeps,
  { before, limit }: { readonly before: string | null; readonly limit: number },
  call: CallContext,
): Promise<SweepPage> {
  await authorise(deps, call, "table.read", SWEEPS);
  const found = await storedSweeps(deps.pool, {
    before,
    limit: limit + 1,
    viewer: tenantOf(call.principal),
  });
  const sweeps = found.slice(0, limit);
  const last = sweeps.at(-1);
  return { sweeps, next: found.length > limit && last !== undefined ? last.sweepId : null };
}
