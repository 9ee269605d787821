import { appendEvent, type Queryable, withTransaction } from "@lapse/kit";
import { abandonedBefore, abandonStaged, beginPurge } from "../domain/purge.ts";
import type { Table } from "../domain/table.ts";
import { tableChanged } from "../events/table-events.ts";
import { activeHolds } from "../store/holds.ts";
import { transactionTime } from "../store/now.ts";
import { type PurgeCandidate, queuePurge, stagedBefore, undoPeriodsOver } from "../store/purges.ts";
import { lockTable, saveTable } from "../store/tables.ts";
import type { CatalogDeps } from "./deps.ts";
import { lookBeforePurging, type PurgeLook } from "./watch-clock.ts";

const PAGE = 200;

/** Decides for a locked row whether its purge begins; undefined: it does not. */
type Begin = (table: Table, tx: Queryable, now: Date) => Promise<Table | undefined>;

/**
 * Moves every dropped table whose undo period is over to `purging`: no undrop any more (T30). Each in a transaction of
 * its own that locks the row, so that an undrop either came before or is refused. None while the clock is not to be trusted.
 */
export async function beginDuePurges(deps: CatalogDeps, signal: AbortSignal): Promise<void> {
  await beginEach(
    deps,
    signal,
    (after, { held }) => undoPeriodsOver(deps.pool, { after, limit: PAGE, held }),
    async (table, _, now) => beginPurge(table, now),
  );
}

/** Gives up staged tables whose first commit never came, so that what was written for them is deleted. */
export async function giveUpStagedTables(deps: CatalogDeps, signal: AbortSignal): Promise<void> {
  const { dayMs } = deps.undo;
  const before = abandonedBefore(await transactionTime(deps.pool), dayMs);
  await beginEach(
    deps,
    signal,
    (after, { held }) => stagedBefore(deps.pool, { before, after, limit: PAGE, held }),
    async (table, tx, now) =>
      abandonStaged(table, await activeHolds(tx, table.tableId, now), now, dayMs),
  );
}

async function beginEach(
  deps: CatalogDeps,
  signal: AbortSignal,
  candidates: (after: PurgeCandidate | undefined, look: PurgeLook) => Promise<PurgeCandidate[]>,
  begin: Begin,
): Promise<void> {
  let last: PurgeCandidate | undefined;
  do {
    const look = await lookBeforePurging(deps);
    const page = await candidates(last, look);
    for (const { tableId } of page) {
      if (signal.aborted) return;
      await beginOne(deps, tableId, begin, look).catch((error: unknown) => {
        deps.metrics.jobFailed("begin_purges");
        deps.log.error({ err: error, table_id: tableId }, "the purge of a table could not begin");
      });
    }
    last = page.at(-1);
  } while (last);
}

const beginOne = (
  deps: CatalogDeps,
  tableId: string,
  begin: Begin,
  look: PurgeLook,
): Promise<void> =>
  withTransaction(deps.pool, async (tx) => {
    const entry = await lockTable(tx, tableId);
    const now = await transactionTime(tx);
    if (!look.agrees(now)) return;
    const table = entry && (await begin(entry.table, tx, now));
    if (!table) return;
    await saveTable(tx, table);
    await queuePurge(tx, tableId, now);
    await appendEvent(tx, tableChanged({ ...entry, table }, "state", {}));
  });
