import { manageFaults } from "./environments.ts";
import { expiryOf, isShortened, lastActivity, withActivity } from "./expiry.ts";
import { type After, decide, during, type Fault } from "./judge.ts";
import type { AskedRule, Operation, Outcome } from "./operation.ts";
import { type Actor, may, STRANGER } from "./people.ts";
import { certain, contains, DAY_MS, later, type Span, type Verdict } from "./span.ts";
import {
  type EnvironmentModel,
  type Rule,
  type TableModel,
  tableOf,
  withDecision,
  withTable,
} from "./state.ts";
import { changed } from "./tables.ts";

type Of<K extends Operation["kind"]> = Extract<Operation, { kind: K }>;

const areDays = (days: number): boolean => Number.isInteger(days) && days >= 1 && days <= 3650;

const startOfDay = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

/** T3, T10: 1 to 3650 days; a day after today in UTC. */
function isValid(asked: AskedRule, midnight: number, now: Span): Verdict {
  if (asked.kind === "days") return certain(areDays(asked.days));
  if (asked.kind === "never") return "yes";
  // The clock may pass midnight between the two ends of the call.
  if (midnight > startOfDay(now.to)) return "yes";
  return midnight > startOfDay(now.from) ? "maybe" : "no";
}

const ruleOf = (asked: AskedRule, midnight: number): Rule =>
  asked.kind === "on" ? { kind: "on", midnight } : asked;

export function setRetention(
  model: EnvironmentModel,
  { actor, rule: asked }: Of<"setRetention">,
  outcome: Outcome,
  judgedOn: EnvironmentModel,
): After {
  const { aim, midnight = 0 } = outcome;
  const now = during(outcome);
  const table = actor === STRANGER || aim?.by !== "id" ? undefined : tableOf(model, aim.tableId);
  const rule = ruleOf(asked, midnight);
  const faults: Fault[] = [];
  const valid = isValid(asked, midnight, now);
  if (valid !== "yes") {
    faults.push({ reason: "RETENTION_INVALID", applies: valid === "no" ? "yes" : "maybe" });
  }
  if (table === undefined || table.state === "purged") faults.push({ reason: "TABLE_NOT_FOUND" });
  else faults.push(...tableFaults(model, table, { actor, rule, now, judgedOn }));
  // A table that is dropped meanwhile does not expire any more, so any rule seems to make it expire at all.
  const isLate = outcome.beside && table?.state === "dropped";
  if (isLate) faults.push({ reason: "RIGHT_MISSING", applies: "maybe" });
  if (outcome.beside) faults.push({ reason: "RETENTION_CHANGED_MEANWHILE", applies: "maybe" });
  const after = decide(model, { actor, outcome }, faults, () => {
    if (table === undefined) return "it was done, and there is no such table";
    const ownRule = { rule, setBy: actor, setAt: now };
    const after = changed(table, now, "changed", { ownRule, unsettled: false });
    const fault = answerFault(model, { before: table, after, judgedOn }, outcome);
    if (fault !== null) return fault;
    return [withDecision(withTable(model, after), retentionSet(model, after, actor))];
  });
  const isCutShort = outcome.beside && CUT_SHORT.includes(outcome.refused ?? "");
  if (typeof after === "string" || !isCutShort || table === undefined) return after;
  const touched = changed(table, now, "changed", { unsettled: true });
  return [...after, ...after.map((each) => withTable(each, touched))];
}

/** Why a change may be refused that has been begun: by what was done at the same time it is judged again. */
const CUT_SHORT = ["ENVIRONMENT_PROTECTED", "RETENTION_CHANGED_MEANWHILE", "RIGHT_MISSING"];

/** What is asked for, by whom and when, and the state that it may be judged on. */
interface Asked {
  readonly actor: Actor;
  readonly rule: Rule;
  readonly now: Span;
  readonly judgedOn: EnvironmentModel;
}

function tableFaults(
  model: EnvironmentModel,
  table: TableModel,
  { actor, rule, now, judgedOn }: Asked,
): readonly Fault[] {
  const faults: Fault[] = [];
  if (table.state === "dropped") {
    faults.push(
      ...["TABLE_NOT_FOUND", "TABLE_DROPPED", "TABLE_PURGING"].map((reason) => ({ reason })),
    );
  }
  if (table.kind !== "managed") faults.push({ reason: "NOT_MANAGED" });
  if (model.protected && rule.kind !== "never") faults.push({ reason: "ENVIRONMENT_PROTECTED" });
  faults.push({
    reason: "RIGHT_MISSING",
    applies: lacksRight(model, table, { actor, rule, now, judgedOn }),
  });
  return faults;
}

/** T6: the drop right to make it expire sooner, or at all; the write right for all else. */
function lacksRight(
  model: EnvironmentModel,
  table: TableModel,
  { actor, rule, now, judgedOn }: Asked,
): Verdict {
  if (actor === STRANGER) return "no";
  const mayDrop = may(actor, "table.drop", table.owner);
  const mayWrite = may(actor, "table.write", table.owner);
  if (mayDrop === mayWrite) return certain(!mayDrop);
  const shortened = shortens(model, table, { rule, now, judgedOn });
  const [where, otherwise] = [certain(!mayDrop), certain(!mayWrite)];
  if (shortened === "maybe") return "maybe";
  return shortened === "yes" ? where : otherwise;
}

/** Judged on what was when it was called: what is done at the same time may count, or not. */
function shortens(
  model: EnvironmentModel,
  table: TableModel,
  { rule, now, judgedOn }: Omit<Asked, "actor">,
): Verdict {
  const here = shortensIn(model, table, rule, now);
  const there = shortensIn(judgedOn, tableOf(judgedOn, table.tableId) ?? table, rule, now);
  return here === there ? here : "maybe";
}

function shortensIn(model: EnvironmentModel, table: TableModel, rule: Rule, now: Span): Verdict {
  // Whether a use by name counts for this table is not told yet.
  if (hasNamedUse(model, table) || model.protectionMoved) return "maybe";
  const before = table.state === "staged" ? null : expiryOf(model, table).expiresAt;
  const ownRule = { rule, setBy: "", setAt: now };
  const activity = withActivity(table.activity, { at: now, kind: "changed" });
  return isShortened(before, expiryOf(model, { ...table, ownRule, activity }).expiresAt);
}

const hasNamedUse = (model: EnvironmentModel, { tableId }: TableModel): boolean =>
  model.namedUses.some(({ namespace, name }) =>
    model.standingFor[`${namespace}.${name}`]?.includes(tableId),
  );

/** What the answer says that it must not, or null. */
function answerFault(
  model: EnvironmentModel,
  {
    before,
    after,
    judgedOn,
  }: { before: TableModel; after: TableModel; judgedOn: EnvironmentModel },
  outcome: Outcome,
): string | null {
  const { retention } = outcome;
  if (retention === undefined) return "it was done, and answered nothing";
  const now = during(outcome);
  const shortened =
    after.ownRule && shortens(model, before, { rule: after.ownRule.rule, now, judgedOn });
  if (retention.shortened === true && shortened === "no") return "it says shortened, and is not";
  if (retention.shortened === false && shortened === "yes") return "it is shortened, and says not";
  if (hasNamedUse(model, before)) return null;
  // The evaluator has not heard of a staged table's former uses.
  const active = later(before.state === "staged" ? now : lastActivity(before), now);
  if (!contains(active, retention.lastActivityAt)) return "it says another last activity";
  const counted = before.state === "staged" ? [{ at: now, kind: "changed" }] : after.activity;
  const { expiresAt } = expiryOf(model, { ...after, activity: counted });
  if ((expiresAt === null) !== (retention.expiresAt === null)) return "it says another expiry";
  if (expiresAt !== null && !contains(expiresAt, retention.expiresAt ?? 0)) {
    return "it says another expiry";
  }
  return null;
}

function retentionSet(model: EnvironmentModel, table: TableModel, actor: Actor) {
  const { rule } = expiryOf(model, table);
  return {
    type: rule?.kind === "never" ? "TABLE_RETENTION_CLEARED" : "TABLE_RETENTION_SET",
    resource: table.tableId,
    actor,
    reason: "request",
    details: {
      table_id: table.tableId,
      days: rule?.kind === "days" ? rule.days : null,
      on: rule?.kind === "on" ? dayOf(rule.midnight) : null,
    },
  };
}

/** `YYYY-MM-DD`, of its midnight in UTC. */
export const dayOf = (midnight: number): string => new Date(midnight).toISOString().slice(0, 10);

/** The first half of a change whose caller dies: activity, and nothing else (T5). */
export function touchTable(model: EnvironmentModel, outcome: Outcome): After {
  const { aim } = outcome;
  const table = aim?.by === "id" ? tableOf(model, aim.tableId) : undefined;
  const faults: Fault[] =
    table === undefined || table.state === "purged"
      ? [{ reason: "TABLE_NOT_FOUND" }]
      : table.state === "dropped"
        ? ["TABLE_DROPPED", "TABLE_PURGING", "TABLE_NOT_FOUND"].map((reason) => ({ reason }))
        : [];
  return decide(model, { actor: "root", outcome }, faults, () => {
    if (table === undefined) return "it was done, and there is no such table";
    return [withTable(model, changed(table, during(outcome), "changed", { unsettled: true }))];
  });
}

export function touchEnvironment(model: EnvironmentModel, outcome: Outcome): After {
  return decide(model, { actor: "root", outcome }, [], () => [{ ...model, unsettled: true }]);
}

export function setEnvironmentRetention(
  model: EnvironmentModel,
  { actor, days }: Of<"setEnvironmentRetention">,
  outcome: Outcome,
): After {
  const faults: Fault[] = [];
  faults.push(...manageFaults(actor));
  if (days !== null && !areDays(days)) faults.push({ reason: "RETENTION_INVALID" });
  if (outcome.beside) faults.push({ reason: "RETENTION_CHANGED_MEANWHILE", applies: "maybe" });
  if (outcome.refused === "RETENTION_CHANGED_MEANWHILE" && outcome.beside) {
    return [model, { ...model, unsettled: true }];
  }
  return decide(model, { actor, outcome }, faults, () => [
    withDecision(
      {
        ...model,
        unsettled: false,
        retention: { rule: { days }, setBy: actor, setAt: during(outcome) },
      },
      {
        type: "ENVIRONMENT_RETENTION_SET",
        resource: model.environmentId,
        actor,
        reason: "request",
        details: { days, previous_days: model.retention?.rule.days ?? null },
      },
    ),
  ]);
}
