import { type CallContext, databaseClock, hasRight } from "@lapse/kit";
import type { SeenVersions } from "../domain/seen-versions.ts";
import { belongsTo } from "./authorise.ts";
import { awaitVersions } from "./await-versions.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { isKnown } from "./get-table-expiry.ts";
import { answerExpiry, type TableExpiryAnswer } from "./table-expiry-answer.ts";

/** A list is better a moment old than late. */
const WAIT_MS = 500;

/**
 * When each of these tables expires, for lists (T12): waits half a second at most for the wanted versions,
 * then answers with what is there. What the caller may not read, or is not known yet, is left out.
 */
export async function batchGetTableExpiry(
  { pool, rules }: EvaluatorDeps,
  wanted: ReadonlyMap<string, SeenVersions>,
  { principal, signal }: CallContext,
): Promise<readonly TableExpiryAnswer[]> {
  const { facts } = await awaitVersions(pool, wanted, { timeoutMs: WAIT_MS, signal });
  const now = await databaseClock(pool).now();
  return [...facts.values()]
    .filter(
      (table) =>
        isKnown(table) &&
        belongsTo(principal, table.tenant) &&
        hasRight(principal, "table.read", { owner: table.owner }),
    )
    .map((table) => answerExpiry(table, { now, warningDays: rules.warningDays }));
}
