import {
  all,
  certain,
  DAY_MS,
  exactly,
  hasCome,
  isBefore,
  later,
  not,
  plus,
  type Span,
  type Verdict,
} from "./span.ts";
import type { Activity, EnvironmentModel, Rule, SetRule, TableModel } from "./state.ts";

/** When a table expires, and by which rule (T2). */
export interface ExpiryModel {
  readonly source: "table" | "environment" | "";
  readonly rule: Rule | null;
  readonly setBy: string;
  readonly setAt: Span | null;
  /** Null: it does not. */
  readonly expiresAt: Span | null;
  /** What keeps a table that a rule would make expire (T19, T20). */
  readonly kept: "protected" | "project_asset" | "";
}

/** The last activity: the latest of all (T13). */
export const lastActivity = ({ activity }: Pick<TableModel, "activity">): Span =>
  activity.map(({ at }) => at).reduce(later, exactly(Number.NEGATIVE_INFINITY));

/** The activities of which each may still be the last, with one more. */
export function withActivity(known: readonly Activity[], more: Activity): readonly Activity[] {
  const activity = [...known, more];
  const { from } = lastActivity({ activity });
  return activity.filter(({ at }) => at.to >= from);
}

/** Whether the project that is current builds a table of this name (T20). */
export const isAsset = (
  { deployed }: Pick<EnvironmentModel, "deployed">,
  { namespace, name }: Pick<TableModel, "namespace" | "name">,
): boolean => deployed?.assets.includes(`${namespace}.${name}`) ?? false;

/** T4, T7, T8, T9, T19, T20, T22. */
export function expiryOf(environment: EnvironmentModel, table: TableModel): ExpiryModel {
  const follows = ruleOf(environment, table);
  if (follows === null) {
    return { source: "", rule: null, setBy: "", setAt: null, expiresAt: null, kept: "" };
  }
  const { source, rule, setBy, setAt } = follows;
  const counted =
    source === "environment" ? later(lastActivity(table), setAt) : lastActivity(table);
  const dueAt =
    rule.kind === "days"
      ? plus(counted, rule.days * DAY_MS)
      : rule.kind === "on"
        ? exactly(rule.midnight)
        : null;
  const kept = dueAt === null ? "" : keptBy(environment, table);
  return { source, rule, setBy, setAt, expiresAt: kept === "" ? dueAt : null, kept };
}

const keptBy = (environment: EnvironmentModel, table: TableModel): ExpiryModel["kept"] => {
  if (environment.protected) return "protected";
  return table.state === "live" && isAsset(environment, table) ? "project_asset" : "";
};

function ruleOf(
  { retention }: Pick<EnvironmentModel, "retention">,
  { kind, ownRule }: Pick<TableModel, "kind" | "ownRule">,
): (SetRule & { readonly source: "table" | "environment" }) | null {
  if (kind !== "managed") return null;
  if (ownRule !== null) return { ...ownRule, source: "table" };
  const days = retention?.rule.days ?? null;
  if (retention === null || days === null) return null;
  return { ...retention, rule: { kind: "days", days }, source: "environment" };
}

/** Whether a change from one expiry to another makes a table expire sooner, or at all when it would not (T6). */
export function isShortened(before: Span | null, after: Span | null): Verdict {
  if (after === null) return "no";
  return before === null ? "yes" : isBefore(after, before);
}

/** Whether a sweep at `now` takes the table for due. */
export function isDue(model: EnvironmentModel, table: TableModel, now: Span): Verdict {
  if (table.state !== "live") return "no";
  const { expiresAt } = expiryOf(model, table);
  return expiresAt === null ? "no" : hasCome(expiresAt, now);
}

/** Whether a hold keeps it from being dropped at `now` (T21). */
export function isHeld({ holds }: TableModel, now: Span): Verdict {
  const verdicts = holds.map(({ until }) => not(hasCome(until, now)));
  if (verdicts.includes("yes")) return "yes";
  return verdicts.includes("maybe") ? "maybe" : "no";
}

/** Whether a sweep at `now` may drop the table. */
export const isDroppable = (model: EnvironmentModel, table: TableModel, now: Span): Verdict =>
  all(
    isDue(model, table, now),
    not(isHeld(table, now)),
    certain(!table.unsettled && !model.unsettled),
  );
