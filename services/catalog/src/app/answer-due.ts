import { isTransient, type LapseError, toLapseError } from "@lapse/kit";
import { type DueConfirmation, isStale } from "../domain/due.ts";
import { answeredDue, answerKey } from "../store/due-answers.ts";
import { transactionTime } from "../store/now.ts";
import { answerTogether, type DueResult, recordFailure } from "./answer-together.ts";
import { forEachConcurrently } from "./concurrently.ts";
import type { CatalogDeps } from "./deps.ts";
import type { DueEvent } from "./due-event.ts";
import { settleRetentions } from "./settle-retentions.ts";

const CONCURRENT_TABLES = 4;

type Confirmations = ReadonlyMap<string, DueConfirmation>;

/**
 * Answers a batch of due events, each exactly once however often it is delivered. Those whose rows can be had at once
 * are answered in one transaction; the rest, or all of them when that fails, each in its own. So one table that is locked
 * or fails stops no other; a failure that will not pass is itself the answer, and the sweep learns of it.
 *
 * @throws unavailable, or another transient error, when something is away: the events without an answer are to be
 *   delivered again; those with one are passed over then.
 */
export async function answerDue(deps: CatalogDeps, batch: readonly DueEvent[]): Promise<void> {
  const open = await withoutAnswered(deps, batch);
  const confirmations = await confirmFresh(deps, open);
  const together = await answerWhatCanBe(deps, open, confirmations);
  const failures: LapseError[] = [];
  const settlements = [...together.settlements];
  await forEachConcurrently(together.left, CONCURRENT_TABLES, async (event) => {
    try {
      settlements.push(...(await answerAlone(deps, event, confirmations)).settlements);
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
  return batch.filter(({ due }) => !answered.has(answerKey(due)));
}

/** Asks once for all that are fresh. A stale event is kept whatever the evaluator says, so it is not asked. */
async function confirmFresh(
  deps: CatalogDeps,
  events: readonly DueEvent[],
): Promise<Confirmations> {
  const now = await transactionTime(deps.pool);
  const fresh = events.filter(({ due }) => !isStale(due, now));
  const tableIds = [...new Set(fresh.map(({ due }) => due.tableId))];
  return tableIds.length === 0 ? new Map() : deps.evaluator.confirmTablesDue(tableIds);
}

async function answerWhatCanBe(
  deps: CatalogDeps,
  events: readonly DueEvent[],
  confirmations: Confirmations,
): Promise<DueResult> {
  if (events.length < 2) return { settlements: [], left: events };
  try {
    return await answerTogether(deps, events, confirmations, "skip");
  } catch (error) {
    deps.log.warn({ err: error, events: events.length }, "due tables are handled one by one");
    return { settlements: [], left: events };
  }
}

async function answerAlone(
  deps: CatalogDeps,
  event: DueEvent,
  confirmations: Confirmations,
): Promise<DueResult> {
  try {
    return await answerTogether(deps, [event], confirmations, "wait");
  } catch (error) {
    const failure = toLapseError(error);
    if (isTransient(failure)) throw failure;
    deps.log.error({ err: error, table_id: event.due.tableId }, "a due table could not be handled");
    await recordFailure(deps, event, failure.reason);
    return { settlements: [], left: [] };
  }
}
