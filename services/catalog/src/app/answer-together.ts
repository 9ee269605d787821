import { type Queryable, withTransaction } from "@lapse/kit";
import { dropExpired } from "../domain/drop.ts";
import { type DueConfirmation, decideDue } from "../domain/due.ts";
import { recordAnswers } from "../store/due-answers.ts";
import { lockedEnvironments } from "../store/environments.ts";
import { activeHoldsOn } from "../store/holds.ts";
import { transactionTime } from "../store/now.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { findTable, lockTables } from "../store/tables.ts";
import type { CatalogDeps } from "./deps.ts";
import { type DroppedTable, type KeptTable, writeDrops, writeKept } from "./due-effects.ts";
import type { DueEvent } from "./due-event.ts";
import type { Settlement } from "./settle-retentions.ts";

export interface DueResult {
  /** What retention-policy must bring up to the catalog's version. */
  readonly settlements: readonly Settlement[];
  /** Events that have no answer yet. */
  readonly left: readonly DueEvent[];
}

/**
 * Drops or keeps due tables in one transaction, except those that have been answered. With `skip`, a row that is not to
 * be had at once is left, and so is the second event of a table; with `wait` there must be one event only.
 */
export async function answerTogether(
  deps: CatalogDeps,
  events: readonly DueEvent[],
  confirmations: ReadonlyMap<string, DueConfirmation>,
  lock: "wait" | "skip",
): Promise<DueResult> {
  const firsts = new Map([...events].reverse().map((event) => [event.due.tableId, event]));
  const { drops, kept, left } = await withTransaction(deps.pool, async (tx) => {
    const entries = await lockForDecision(tx, [...firsts.keys()], lock);
    const taken = events.filter(
      (event) =>
        firsts.get(event.due.tableId) === event &&
        (lock === "wait" || entries.has(event.due.tableId)),
    );
    const now = await transactionTime(tx);
    const decided = await decideEach(tx, now, taken, entries, confirmations, deps);
    await writeDrops(tx, now, decided.drops);
    await writeKept(tx, now, decided.kept);
    return { ...decided, left: events.filter((event) => !taken.includes(event)) };
  });
  for (const _ of drops) deps.metrics.dropped("retention");
  for (const { reason } of kept) deps.metrics.kept(reason);
  const settlements = kept.flatMap(({ entry, settle }) =>
    entry && settle ? [{ entry, ahead: settle }] : [],
  );
  return { settlements, left };
}

type Entries = ReadonlyMap<string, TableInEnvironment>;

/** Tables locked for update, then their environments against change: whatever is under way has ended or waits. */
async function lockForDecision(
  tx: Queryable,
  tableIds: readonly string[],
  lock: "wait" | "skip",
): Promise<Entries> {
  const tables = await lockTables(tx, tableIds, lock);
  const environments = await lockedEnvironments(
    tx,
    tables.map(({ table }) => table.environmentId),
  );
  return new Map(
    tables.flatMap(({ table }) => {
      const environment = environments.get(table.environmentId);
      return environment ? [[table.tableId, { table, environment }]] : [];
    }),
  );
}

async function decideEach(
  tx: Queryable,
  now: Date,
  events: readonly DueEvent[],
  entries: Entries,
  confirmations: ReadonlyMap<string, DueConfirmation>,
  { undo }: CatalogDeps,
): Promise<{ drops: DroppedTable[]; kept: KeptTable[] }> {
  const holds = await activeHoldsOn(tx, [...entries.keys()], now);
  const decided = events.map((event) => {
    const { due } = event;
    const entry = entries.get(due.tableId);
    const decision = decideDue({
      due,
      confirmation: confirmations.get(due.tableId),
      table: entry?.table,
      environment: entry?.environment,
      holds: holds.get(due.tableId) ?? [],
      now,
    });
    const answer = decision.kind === "drop" ? "dropped" : decision.reason;
    return { event, entry, decision, answer: { ...due, answer } };
  });
  const isNew = await recordAnswers(
    tx,
    decided.map(({ answer }) => answer),
    now,
  );
  const drops: DroppedTable[] = [];
  const kept: KeptTable[] = [];
  for (const { event, entry, decision, answer } of decided) {
    if (!isNew(answer)) continue;
    if (decision.kind === "keep") kept.push({ ...event, ...decision, entry, outcome: "kept" });
    else if (entry) {
      const table = dropExpired(entry.table, now, undo);
      drops.push({ ...event, entry: { ...entry, table }, retention: decision.retention });
    }
  }
  return { drops, kept };
}

/** Answers with `failed`, in a transaction of its own, since the one that failed is gone. */
export async function recordFailure(
  deps: CatalogDeps,
  event: DueEvent,
  detail: string,
): Promise<void> {
  const { due } = event;
  const recorded = await withTransaction(deps.pool, async (tx) => {
    const now = await transactionTime(tx);
    const isNew = await recordAnswers(tx, [{ ...due, answer: "failed" }], now);
    if (!isNew(due)) return false;
    const entry = await findTable(tx, due.tableId);
    await writeKept(tx, now, [{ ...event, entry, reason: "failed", detail, outcome: "failed" }]);
    return true;
  });
  if (recorded) deps.metrics.kept("failed");
}
