import type { CallContext } from "@lapse/kit";
import { loadTableFacts } from "../store/table-facts.ts";
import {
  type DailyReads,
  listDailyReads,
  listReadSources,
  type ReadSource,
} from "../store/table-reads.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { readableTable } from "./get-table-expiry.ts";

/** Who reads a table, and how often. */
export interface TableReads {
  readonly days: readonly DailyReads[];
  readonly sources: readonly ReadSource[];
}

/** What one answer holds at most. */
const MAX_DAYS = 5_000;
const MAX_SOURCES = 200;

/**
 * Reads per day, and which systems have reported any (T17, T18).
 *
 * @throws not_found `TABLE_NOT_FOUND`; denied `RIGHT_MISSING`
 */
export async function getTableReads(
  deps: EvaluatorDeps,
  tableId: string,
  call: CallContext,
): Promise<TableReads> {
  const [facts] = await loadTableFacts(deps.pool, [tableId]);
  await readableTable(deps, facts, tableId, call);
  return {
    days: await listDailyReads(deps.pool, tableId, MAX_DAYS),
    sources: await listReadSources(deps.pool, tableId, MAX_SOURCES),
  };
}
