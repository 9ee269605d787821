import { setTimeout as delay } from "node:timers/promises";
import type { DueCursor } from "../domain/due-order.ts";
import { nextChunk, spentTenants, totalProgress } from "../domain/sweep-budget.ts";
import { giveUpOn, loadProgress } from "../store/sweep-candidates.ts";
import type { EvaluatorDeps } from "./deps.ts";
import type { GuardedSweep } from "./guard-sweep.ts";
import { type Chunk, type Issued, issueDueTables } from "./issue-due-tables.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";
import { watchClock } from "./watch-clock.ts";

const LOOK_FOR_ANSWERS_MS = 100;
/** While a sweep runs, the clock is looked at this often. */
const CLOCK_EVERY_MS = 1_000;

/** What is issued, and from where on. */
export interface Rounds extends Pick<GuardedSweep, "horizon" | "scope"> {
  readonly sweepId: string;
  readonly cursor: DueCursor;
  /** How many tables of one tenant may be dropped; those of all together: the cap. */
  readonly share: number;
}

/** Where the rounds ended. */
export interface RoundsEnd {
  /** Nothing that may be taken is left after the cursor. */
  readonly exhausted: boolean;
  readonly cursor: DueCursor;
}

/**
 * Issues tables in rounds, the most overdue first, until nothing is due any more or the cap is used up, and every
 * table is answered or given up.
 */
export async function issueRounds(
  deps: EvaluatorDeps,
  { sweepId, horizon, scope, share, ...from }: Rounds,
  lease: SweepLease,
): Promise<RoundsEnd> {
  const { pool, rules, metrics } = deps;
  let { cursor } = from;
  // The tenants that had used up their share when nothing was left of the others.
  let exhausted: ReadonlySet<string> | null = null;
  let lookedAt = performance.now();
  for (;;) {
    lease.signal.throwIfAborted();
    if (performance.now() - lookedAt >= CLOCK_EVERY_MS) {
      // A jump raises its holds for the sweeps to come; this one goes by the horizon it has.
      await watchClock(deps, lease);
      lookedAt = performance.now();
    }
    const progress = await loadProgress(pool, sweepId);
    const total = totalProgress(progress);
    const spent = spentTenants(progress, share);
    const isOver: boolean =
      exhausted !== null && [...exhausted].every((tenant) => spent.includes(tenant));
    const limit: number = isOver ? 0 : nextChunk(rules.cap, total);
    if (limit > 0) {
      const exceptTenants = [...scope.exceptTenants, ...spent];
      const chunk: Chunk = {
        ...{ sweepId, horizon, limit, cursor, share, progress },
        scope: { ...scope, exceptTenants },
      };
      const round: Issued = await underLease(deps, lease, (tx) => issueDueTables(tx, deps, chunk));
      metrics.due.inc(round.issued);
      ({ cursor } = round);
      exhausted = round.exhausted ? new Set([...spent, ...round.spent]) : null;
      continue;
    }
    if (total.outstanding === 0) {
      return { exhausted: isOver && spent.length === 0, cursor };
    }
    await underLease(deps, lease, (tx) => giveUpOn(tx, sweepId, rules.answerTimeoutMs));
    await delay(LOOK_FOR_ANSWERS_MS);
  }
}
