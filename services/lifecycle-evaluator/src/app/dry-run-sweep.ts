import { type CallContext, peekAtClock, withTransaction } from "@lapse/kit";
import type { BreakerVerdict } from "../domain/breaker.ts";
import { advance, type DueCursor } from "../domain/due-order.ts";
import type { SweepHold } from "../domain/sweep-hold.ts";
import { type DueScope, type DueTable, findDueTables } from "../store/due-tables.ts";
import { listHolds } from "../store/sweep-holds.ts";
import { authorise, tenantOf } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { readGuards } from "./guard-sweep.ts";
import { agreed } from "./issue-due-tables.ts";
import { passSignal } from "./pass-signal.ts";
import { SWEEPS } from "./request-sweep.ts";
import { answerExpiry, type TableExpiryAnswer } from "./table-expiry-answer.ts";
import { sweepClock } from "./watch-clock.ts";

/** Tables read at once. */
const PAGE = 500;
/** What one answer holds at most. */
const MAX_ANSWER = 10_000;
const MAX_HOLDS = 1_000;
/** A caller waits for it, so it waits less long than a sweep does. */
const SIGNAL_TIMEOUT_MS = 5_000;

/** What a sweep would do. */
export interface DryRun {
  readonly wouldDrop: readonly TableExpiryAnswer[];
  /** What it would leave out until somebody confirms. */
  readonly held: readonly SweepHold[];
}

/**
 * What a sweep of the caller's tables would issue now, in its order and within its cap (T25): the same fence, the
 * same guards, the same choice, and nothing is written. What a pause keeps from being picked is told as well.
 *
 * @throws unavailable `EVALUATOR_BEHIND`, `BROKER_UNREACHABLE`, `SIGNAL_MISSING`: a sweep would be held;
 *   as `authorise`
 */
export async function dryRunSweep(deps: EvaluatorDeps, call: CallContext): Promise<DryRun> {
  await authorise(deps, call, "sweep.manage", SWEEPS);
  const { pool, rules, log } = deps;
  const tenant = tenantOf(call.principal);
  await passSignal(deps, { timeoutMs: SIGNAL_TIMEOUT_MS, signal: call.signal });
  const { now, fault } = await peekAtClock(pool, sweepClock(deps));
  const { scope, breaker } = await readGuards(deps, { tenant, horizon: now, evenPaused: true });
  const waiting = await listHolds(pool, { tenant, all: false, before: null, limit: MAX_HOLDS });
  const fallen = new Set(breaker.fallen);
  const held = [
    ...(fault === null ? [] : [wouldHoldAll(tenant ?? "", fault)]),
    ...wouldHold(breaker, { now, share: rules.maxExpiryShare }),
    ...waiting.filter(({ holdId }) => !fallen.has(holdId)),
  ];
  const found = fault === null ? await findAll(deps, { horizon: now, scope }) : [];
  const due = agreed(found, now, log);
  return {
    wouldDrop: due.map(({ facts }) => answerExpiry(facts, { now, warningDays: rules.warningDays })),
    held,
  };
}

const unconfirmed = { holdId: "", confirmedBy: null, confirmedAt: null, ended: false } as const;

/** A jump of the clock that no sweep has seen yet. */
const wouldHoldAll = (
  tenant: string,
  { last, now }: { readonly last: Date; readonly now: Date },
): SweepHold => ({
  ...unconfirmed,
  kind: "clock",
  tenant,
  breaker: null,
  clock: { lastSeenAt: last, now },
  raisedAt: now,
});

const wouldHold = (
  { raise }: BreakerVerdict,
  { now, share }: { readonly now: Date; readonly share: number },
): readonly SweepHold[] =>
  raise.map(({ tenant, environmentId, environment, due, tables }) => ({
    ...unconfirmed,
    kind: "breaker",
    tenant,
    breaker: { environmentId, environment, due, tables, share },
    clock: null,
    raisedAt: now,
  }));

async function findAll(
  { pool, rules }: EvaluatorDeps,
  { horizon, scope }: { readonly horizon: Date; readonly scope: DueScope },
): Promise<readonly DueTable[]> {
  const wanted = Math.min(rules.cap, MAX_ANSWER);
  const all: DueTable[] = [];
  let cursor: DueCursor = new Map();
  for (;;) {
    const limit = Math.min(PAGE, wanted - all.length);
    if (limit === 0) {
      return all;
    }
    const page = await withTransaction(pool, (tx) =>
      findDueTables(tx, { horizon, limit, cursor, scope }),
    );
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
