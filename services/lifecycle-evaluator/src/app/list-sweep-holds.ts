import type { CallContext } from "@lapse/kit";
import type { SweepHold } from "../domain/sweep-hold.ts";
import { listHolds } from "../store/sweep-holds.ts";
import { authorise, tenantOf } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { SWEEPS } from "./request-sweep.ts";

/** Which holds are listed. */
export interface ListSweepHolds {
  /** Also those that were confirmed or went away by themselves. */
  readonly all: boolean;
  readonly before: string | null;
  readonly limit: number;
}

/** One page of holds, the newest first. */
export interface SweepHoldPage {
  readonly holds: readonly SweepHold[];
  /** The id to go on before; null: this was the last page. */
  readonly next: string | null;
}

/**
 * What keeps the caller's tables from sweeps until somebody confirms that it is meant (T26).
 *
 * @throws as `authorise`
 */
export async function listSweepHolds(
  deps: EvaluatorDeps,
  { all, before, limit }: ListSweepHolds,
  call: CallContext,
): Promise<SweepHoldPage> {
  await authorise(deps, call, "table.read", SWEEPS);
  const found = await listHolds(deps.pool, {
    tenant: tenantOf(call.principal),
    all,
    before,
    limit: limit + 1,
  });
  const holds = found.slice(0, limit);
  const last = holds.at(-1);
  return { holds, next: found.length > limit && last !== undefined ? last.holdId : null };
}
