import { ANY_TENANT, LapseError } from "@lapse/kit";
import type { HeldReason } from "../domain/sweep.ts";
import { fairShare } from "../domain/sweep-budget.ts";
import { completeSweep, recordCapped, recordFence } from "../store/sweeps.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { findCappedTenants } from "./find-capped-tenants.ts";
import { type GuardedSweep, guardSweep } from "./guard-sweep.ts";
import { holdSweep } from "./hold-sweep.ts";
import { issueRounds, type RoundsEnd } from "./issue-rounds.ts";
import { passSignal } from "./pass-signal.ts";
import type { StartedSweep } from "./start-next-sweep.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";

/**
 * Runs a sweep that is recorded as running, to its end (T24, T25): waits for the fence, lets the guards judge,
 * issues the most overdue tables in rounds and waits for what the catalog does with them. Every write asserts
 * the lease, so a process that lost it issues nothing.
 */
export async function runSweep(
  deps: EvaluatorDeps,
  sweep: StartedSweep,
  lease: SweepLease,
): Promise<void> {
  const { sweepId } = sweep;
  const held = await passFence(deps, sweepId, lease);
  if (held !== null) {
    await holdSweep(deps, sweepId, held, lease);
    return;
  }
  const guarded = await guardSweep(deps, sweep, lease);
  if (guarded.heldByClock) {
    await holdSweep(deps, sweepId, "clock", lease);
    return;
  }
  const { exhausted, cursor } = await issueFairly(deps, sweepId, guarded, lease);
  const finishedAt = await underLease(deps, lease, async (tx) => {
    if (!exhausted) {
      await recordCapped(tx, sweepId, await findCappedTenants(tx, { ...guarded, cursor }));
    }
    return completeSweep(tx, sweepId);
  });
  if (sweep.tenant === ANY_TENANT) {
    deps.metrics.lastSuccess.set(finishedAt.getTime() / 1000);
  }
  deps.metrics.held.reset();
}

/** Why a sweep is held, by what could not be had. */
const HELD: ReadonlyMap<string, HeldReason> = new Map([
  ["BROKER_UNREACHABLE", "signal_unavailable"],
  ["EVALUATOR_BEHIND", "signal_unavailable"],
  ["SIGNAL_MISSING", "signal_missing"],
]);

/** Null once everything that had reached the streams counts, else why that cannot be said. */
async function passFence(
  deps: EvaluatorDeps,
  sweepId: string,
  lease: SweepLease,
): Promise<HeldReason | null> {
  const { signal } = lease;
  try {
    const fence = await passSignal(deps, { timeoutMs: deps.rules.fenceTimeoutMs, signal });
    await underLease(deps, lease, (tx) => recordFence(tx, sweepId, fence));
    return null;
  } catch (error) {
    // A lease that is lost cuts the waiting short, which says nothing of the signal.
    signal.throwIfAborted();
    const reason = error instanceof LapseError ? HELD.get(error.reason) : undefined;
    if (reason === undefined) {
      throw error;
    }
    return reason;
  }
}

/**
 * Each tenant's share of the cap first, then what is left of it by how overdue the tables are, whose ever they are: one
 * tenant alone has all of it either way.
 */
async function issueFairly(
  deps: EvaluatorDeps,
  sweepId: string,
  { horizon, scope, tenants }: GuardedSweep,
  lease: SweepLease,
): Promise<RoundsEnd> {
  const { cap } = deps.rules;
  const rounds = { sweepId, horizon, scope };
  const share = fairShare(cap, tenants.length);
  const first = await issueRounds(deps, { ...rounds, share, cursor: new Map() }, lease);
  return first.exhausted || share >= cap
    ? first
    : issueRounds(deps, { ...rounds, share: cap, cursor: first.cursor }, lease);
}
