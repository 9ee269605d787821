import { type CallContext, databaseClock, requireService } from "@lapse/kit";
import { isTableDue } from "../domain/table-expiry.ts";
import { SERVICE } from "../service-name.ts";
import { loadTableFacts } from "../store/table-facts.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { CONSISTENT_WITHIN_MS } from "./get-table-expiry.ts";
import { passSignal } from "./pass-signal.ts";
import { answerExpiry, type TableExpiryAnswer } from "./table-expiry-answer.ts";

/** Whether one table is due. */
export interface DueConfirmation extends TableExpiryAnswer {
  readonly due: boolean;
}

/**
 * Whether these tables are due on everything that had reached the streams at the call, by the database
 * clock. A table that is not known is left out. Only services ask: the catalog, right before it drops.
 *
 * @throws unavailable `EVALUATOR_BEHIND`, `BROKER_UNREACHABLE`, `SIGNAL_MISSING` within two seconds: drop
 *   nothing; denied `SERVICE_REQUIRED`, recorded
 */
export async function confirmTablesDue(
  deps: EvaluatorDeps,
  tableIds: readonly string[],
  call: CallContext,
): Promise<readonly DueConfirmation[]> {
  await requireService(deps.pool, SERVICE, call);
  await passSignal(deps, { timeoutMs: CONSISTENT_WITHIN_MS, signal: call.signal });
  const { pool, rules } = deps;
  const facts = await loadTableFacts(pool, tableIds);
  const now = await databaseClock(pool).now();
  return facts.map((table) => {
    const answer = answerExpiry(table, { now, warningDays: rules.warningDays });
    return { ...answer, due: isTableDue(table, answer.expiry, now) };
  });
}
