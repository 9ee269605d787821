import { setTimeout as delay } from "node:timers/promises";
import { databaseClock, LapseError } from "@lapse/kit";
import type { DueCursor } from "../domain/due-order.ts";
import type { HeldReason } from "../domain/sweep.ts";
import { nextChunk } from "../domain/sweep-budget.ts";
import { findDueTables } from "../store/due-tables.ts";
import { giveUpOn, loadProgress } from "../store/sweep-candidates.ts";
import { completeSweep, recordFence } from "../store/sweeps.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { holdSweep } from "./hold-sweep.ts";
import { type Chunk, type Issued, issueDueTables } from "./issue-due-tables.ts";
import { passSignal } from "./pass-signal.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";

const LOOK_FOR_ANSWERS_MS = 100;

/**
 * Runs a sweep that is recorded as running, to its end (T24, T25): waits for the fence, issues the most
 * overdue tables in rounds and waits for what the catalog does with them. Every write asserts the lease, so
 * a process that lost it issues nothing.
 */
export async function runSweep(
  deps: EvaluatorDeps,
  sweepId: string,
  lease: SweepLease,
): Promise<void> {
  const held = await passFence(deps, sweepId, lease);
  if (held !== null) {
    await holdSweep(deps, sweepId, held, lease);
    return;
  }
  const { exhausted, cursor, horizon } = await issueRounds(deps, sweepId, lease);
  const finishedAt = await underLease(deps, lease, async (tx) => {
    const more = exhausted ? [] : await findDueTables(tx, { horizon, limit: 1, cursor });
    return completeSweep(tx, sweepId, { capped: more.length > 0 });
  });
  deps.metrics.lastSuccess.set(finishedAt.getTime() / 1000);
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
  readonly exhausted: boolean;
  readonly cursor: DueCursor;
  readonly horizon: Date;
}

/** Ends when nothing is due any more, or the cap is used up, and every table is answered or given up. */
async function issueRounds(
  deps: EvaluatorDeps,
  sweepId: string,
  lease: SweepLease,
): Promise<RoundsEnd> {
  const { pool, rules, metrics } = deps;
  // What becomes due while the sweep runs is the next one's: this one must end.
  const horizon = await databaseClock(pool).now();
  let cursor: DueCursor = new Map();
  let exhausted = false;
  for (;;) {
    lease.signal.throwIfAborted();
    const progress = await loadProgress(pool, sweepId);
    const limit: number = exhausted ? 0 : nextChunk(rules.cap, progress);
    if (limit > 0) {
      const chunk: Chunk = { sweepId, horizon, limit, cursor };
      const round: Issued = await underLease(deps, lease, (tx) => issueDueTables(tx, deps, chunk));
      metrics.due.inc(round.issued);
      ({ cursor, exhausted } = round);
      continue;
    }
    if (progress.outstanding === 0) {
      return { exhausted, cursor, horizon };
    }
    await underLease(deps, lease, (tx) => giveUpOn(tx, sweepId, rules.answerTimeoutMs));
    await delay(LOOK_FOR_ANSWERS_MS);
  }
}
