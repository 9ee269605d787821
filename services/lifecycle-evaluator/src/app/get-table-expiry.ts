import { type CallContext, databaseClock, notFound, unavailable } from "@lapse/kit";
import type { SeenVersions } from "../domain/seen-versions.ts";
import type { TableFacts } from "../domain/table-facts.ts";
import { authoriseTable, belongsTo } from "./authorise.ts";
import { awaitVersions } from "./await-versions.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { answerExpiry, type TableExpiryAnswer } from "./table-expiry-answer.ts";

/** How long a caller waits for an answer that is new enough. */
export const CONSISTENT_WITHIN_MS = 2_000;

/** Which table, and how new the answer must be. */
export interface GetTableExpiry {
  readonly tableId: string;
  readonly atLeast: SeenVersions;
  /** Everything that had reached the streams at the call counts (T6). */
  readonly consistent: boolean;
}

/**
 * When a table expires, and why (T2).
 *
 * @throws unavailable `EVALUATOR_BEHIND`, `BROKER_UNREACHABLE` within two seconds; not_found
 *   `TABLE_NOT_FOUND`; denied `RIGHT_MISSING`
 */
export async function getTableExpiry(
  deps: EvaluatorDeps,
  { tableId, atLeast, consistent }: GetTableExpiry,
  call: CallContext,
): Promise<TableExpiryAnswer> {
  const started = performance.now();
  if (consistent) {
    await deps.fence.pass({ timeoutMs: CONSISTENT_WITHIN_MS, signal: call.signal });
  }
  const { facts, reached } = await awaitVersions(deps.pool, new Map([[tableId, atLeast]]), {
    timeoutMs: CONSISTENT_WITHIN_MS - (performance.now() - started),
    signal: call.signal,
  });
  if (!reached) {
    throw unavailable(
      "EVALUATOR_BEHIND",
      "the last change of the table is not evaluated yet; repeat the call",
      { details: { table_id: tableId } },
    );
  }
  const found = await readableTable(deps, facts.get(tableId), tableId, call);
  const now = await databaseClock(deps.pool).now();
  return answerExpiry(found, { now, warningDays: deps.rules.warningDays });
}

/**
 * The table, if the caller may read it.
 *
 * @throws not_found `TABLE_NOT_FOUND`, also for another tenant's table; denied `RIGHT_MISSING`; unavailable where
 *   the catalog must be asked for the caller's rights and cannot be
 */
export async function readableTable(
  deps: Pick<EvaluatorDeps, "pool" | "catalog">,
  facts: TableFacts | undefined,
  tableId: string,
  call: CallContext,
): Promise<TableFacts> {
  const known = facts && isKnown(facts) && belongsTo(call.principal, facts.tenant);
  await authoriseTable(deps, call, "table.read", { tableId, facts: known ? facts : undefined });
  if (!known) {
    throw notFound("TABLE_NOT_FOUND", `there is no table ${tableId}; look at the list of tables`);
  }
  return facts;
}

/** Whether the catalog has spoken of the table, and it is not gone for good. */
export function isKnown({ state }: TableFacts): boolean {
  return state !== "unknown" && state !== "purged";
}
