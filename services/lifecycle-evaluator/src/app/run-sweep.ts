import { setTimeout as delay } from "node:timers/promises";
import { ANY_TENANT, LapseError } from "@lapse/kit";
import type { DueCursor } from "../domain/due-order.ts";
import type { HeldReason } from "../domain/sweep.ts";
import { nextChunk } from "../domain/sweep-budget.ts";
import { giveUpOn, loadProgress } from "../store/sweep-candidates.ts";
import { completeSweep, recordCapped, recordFence } from "../store/sweeps.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { findCappedTenants } from "./find-capped-tenants.ts";
import { type GuardedSweep, guardSweep } from "./guard-sweep.ts";
import { holdSweep } from "./hold-sweep.ts";
import { type Chunk, type Issued, issueDueTables } from "./issue-due-tables.ts";
import { passSignal } from "./pass-signal.ts";
import type { StartedSweep } from "./start-next-sweep.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";
import { watchClock } from "./watch-clock.ts";

const LOOK_FOR_ANSWERS_MS = 100;
/** While a sweep runs, the clock is looked at this often. */
const CLOCK_EVERY_MS = 1_000;

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
  const { exhausted, cursor } = await issueRounds(deps, sweepId, guarded, lease);
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

interface RoundsEnd {
  /** Nothing that may be taken is left after the cursor. */
  readonly exhausted: boolean;
  readonly cursor: DueCursor;
}

/** Ends when nothing is due any more, or the cap is used up, and every table is answered or given up. */
async function issueRounds(
  deps: EvaluatorDeps,
  sweepId: string,
  { horizon, scope }: GuardedSweep,
  lease: SweepLease,
): Promise<RoundsEnd> {
  const { pool, rules, metrics } = deps;
  let cursor: DueCursor = new Map();
  let exhausted = false;
  let lookedAt = performance.now();
  for (;;) {
    lease.signal.throwIfAborted();
    if (performance.now() - lookedAt >= CLOCK_EVERY_MS) {
      // A jump raises its holds for the sweeps to come; this one goes by the horizon it has.
      await watchClock(deps, lease);
      lookedAt = performance.now();
    }
    const progress = await loadProgress(pool, sweepId);
    const limit: number = exhausted ? 0 : nextChunk(rules.cap, progress);
    if (limit > 0) {
      const chunk: Chunk = { sweepId, horizon, limit, cursor, scope };
      const round: Issued = await underLease(deps, lease, (tx) => issueDueTables(tx, deps, chunk));
      metrics.due.inc(round.issued);
      ({ cursor, exhausted } = round);
      continue;
    }
    if (progress.outstanding === 0) {
      return { exhausted, cursor };
    }
    await underLease(deps, lease, (tx) => giveUpOn(tx, sweepId, rules.answerTimeoutMs));
    await delay(LOOK_FOR_ANSWERS_MS);
  }
}
