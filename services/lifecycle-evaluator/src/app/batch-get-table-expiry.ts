import { type CallContext, databaseClock } from "@lapse/kit";
import { hasSeen, type SeenVersions } from "../domain/seen-versions.ts";
import { awaitVersions } from "./await-versions.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { isKnown } from "./get-table-expiry.ts";
import { keepReadable } from "./readable-tables.ts";
import { answerExpiry, type TableExpiryAnswer } from "./table-expiry-answer.ts";

/** A list is better without an expiry than late. */
const WAIT_MS = 500;

/**
 * When each of these tables expires, for lists (T12): waits half a second at most for the wanted versions,
 * then answers with what is there. What the caller may not read, or is not known in that version yet, is left out.
 *
 * @throws unavailable where the catalog must be asked for the caller's rights and cannot be
 */
export async function batchGetTableExpiry(
  deps: EvaluatorDeps,
  wanted: ReadonlyMap<string, SeenVersions>,
  call: CallContext,
): Promise<readonly TableExpiryAnswer[]> {
  const { pool, rules } = deps;
  const { facts } = await awaitVersions(pool, wanted, { timeoutMs: WAIT_MS, signal: call.signal });
  const known = [...facts].flatMap(([tableId, table]) => {
    const least = wanted.get(tableId);
    return isKnown(table) && least && hasSeen(table, least) ? [table] : [];
  });
  const readable = await keepReadable(deps, known, call);
  const now = await databaseClock(pool).now();
  return readable.map((table) => answerExpiry(table, { now, warningDays: rules.warningDays }));
}
