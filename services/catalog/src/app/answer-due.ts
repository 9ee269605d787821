import { isTransient, type LapseError, toLapseError } from "@lapse/kit";
import { type DueConfirmation, isStale } from "../domain/due.ts";
import { answeredDue, answerKey } from "../store/due-answers.ts";
import { transactionTime } from "../store/now.ts";
import { answerOneDue, type DueEvent } from "./answer-one-due.ts";
import { forEachConcurrently } from "./concurrently.ts";
import type { CatalogDeps } from "./deps.ts";
import { type Settlement, settleRetentions } from "./settle-retentions.ts";

const CONCURRENT_TABLES = 4;

/**
 * Answers a batch of due events, each exactly once however often it is delivered: every table is dropped or kept in a
 * transaction of its own, with its event and decision. One that fails is recorded as failed and stops no other.
 *
 * @throws unavailable, or another transient error, when something is away: the events without an answer are to be
 *   delivered again; those with one are passed over then.
 */
export async function answerDue(deps: CatalogDeps, batch: readonly DueEvent[]): Promise<void> {
  const open = await withoutAnswered(deps, batch);
  const confirmations = await confirmFresh(deps, open);
  const settlements: Settlement[] = [];
  const failures: LapseError[] = [];
  await forEachConcurrently(open, CONCURRENT_TABLES, async (event) => {
    try {
      const settlement = await answerOneDue(deps, event, confirmations.get(event.due.tableId));
      if (settlement) settlements.push(settlement);
    } catch (error) {
      failures.push(toLapseError(error));
    }
  });
  await settleRetentions(deps, settlements);
  const failure = failures.find(isTransient) ?? failures[0];
  if (failure) throw failure;
}

async function withoutAnswered(
  deps: CatalogDeps,
  batch: readonly DueEvent[],
): Promise<readonly DueEvent[]> {
  const answered = await answeredDue(
    deps.pool,
    batch.map(({ due }) => due),
  );
  return batch.filter(({ due }) => !answered.has(answerKey(due.sweepId, due.tableId)));
}

/** Asks once for all that are fresh. A stale event is kept whatever the evaluator says, so it is not asked. */
async function confirmFresh(
  deps: CatalogDeps,
  events: readonly DueEvent[],
): Promise<ReadonlyMap<string, DueConfirmation>> {
  const now = await transactionTime(deps.pool);
  const fresh = events.filter(({ due }) => !isStale(due, now));
  const tableIds = [...new Set(fresh.map(({ due }) => due.tableId))];
  return tableIds.length === 0 ? new Map() : deps.evaluator.confirmTablesDue(tableIds);
}
