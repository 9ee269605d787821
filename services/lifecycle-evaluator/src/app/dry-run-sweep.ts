import { type CallContext, databaseClock, withTransaction } from "@lapse/kit";
import { advance, type DueCursor } from "../domain/due-order.ts";
import { type DueTable, findDueTables } from "../store/due-tables.ts";
import { authorise, belongsTo } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { agreed } from "./issue-due-tables.ts";
import { passSignal } from "./pass-signal.ts";
import { SWEEPS } from "./request-sweep.ts";
import { answerExpiry, type TableExpiryAnswer } from "./table-expiry-answer.ts";

/** Tables read at once. */
const PAGE = 500;
/** What one answer holds at most. */
const MAX_ANSWER = 10_000;
/** A caller waits for it, so it waits less long than a sweep does. */
const SIGNAL_TIMEOUT_MS = 5_000;

/**
 * What a sweep would issue now, in its order and within its cap (T25): the same fence, the same choice, and
 * nothing is written. The caller sees the tables of its tenant.
 *
 * @throws unavailable `EVALUATOR_BEHIND`, `BROKER_UNREACHABLE`, `SIGNAL_MISSING`: a sweep would be held;
 *   denied `RIGHT_MISSING`
 */
export async function dryRunSweep(
  deps: EvaluatorDeps,
  call: CallContext,
): Promise<readonly TableExpiryAnswer[]> {
  await authorise(deps, call, "sweep.manage", SWEEPS);
  const { pool, rules, log } = deps;
  await passSignal(deps, { timeoutMs: SIGNAL_TIMEOUT_MS, signal: call.signal });
  const now = await databaseClock(pool).now();
  const found = await findAll(deps, now);
  return agreed(found, now, log)
    .filter(({ facts }) => belongsTo(call.principal, facts.tenant))
    .map(({ facts }) => answerExpiry(facts, { now, warningDays: rules.warningDays }));
}

async function findAll(
  { pool, rules }: EvaluatorDeps,
  horizon: Date,
): Promise<readonly DueTable[]> {
  const wanted = Math.min(rules.cap, MAX_ANSWER);
  const all: DueTable[] = [];
  let cursor: DueCursor = new Map();
  for (;;) {
    const limit = Math.min(PAGE, wanted - all.length);
    if (limit === 0) {
      return all;
    }
    const page = await withTransaction(pool, (tx) => findDueTables(tx, { horizon, limit, cursor }));
    all.push(...page);
    if (page.length < limit) {
      return all;
    }
    cursor = advance(
      cursor,
      page.map(({ place }) => place),
    );
  }
}
