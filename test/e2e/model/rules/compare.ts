import { compareDecisions } from "./compare-decisions.ts";
import { expiryOf, lastActivity } from "./expiry.ts";
import { dayOf } from "./retention.ts";
import type { Seen, SeenExpiry, SeenTable } from "./seen.ts";
import { contains, DAY_MS, hasCome, plus, type Span } from "./span.ts";
import type { EnvironmentModel, Rule, TableModel } from "./state.ts";

/** The warning window, as the system of the test is set (T11). */
const WARNING_DAYS = 7;
/** The order of a list counts reads of the last minute no more than it must. */
const LAG_MS = 60_000;

/** Everything in which the system differs from the model; where there is nothing, the two are the same. */
export function compare(model: EnvironmentModel, seen: Seen): readonly string[] {
  const present = model.tables.filter(({ state }) => state === "live" || state === "dropped");
  const faults = [
    differs("protected", model.protected, seen.protected),
    ...compareRetention(model, seen),
    ...extra(present, seen.tables),
    ...present.flatMap((table) => compareTable(model, table, seen)),
    ...compareExpiring(model, seen),
    ...compareDecisions(model.decisions, seen.decisions),
  ];
  return faults.filter((fault): fault is string => fault !== null);
}

function differs(what: string, expected: unknown, is: unknown): string | null {
  return Object.is(expected, is)
    ? null
    : `${what} is ${JSON.stringify(is)} and not ${JSON.stringify(expected)}`;
}

function differsInTime(what: string, expected: Span | null, is: number | null): string | null {
  if (expected === null) return is === null ? null : `${what} is ${time(is)}, and should not be`;
  if (is === null) return `${what} is missing, and should be ${time(expected.to)}`;
  return contains(expected, is)
    ? null
    : `${what} is ${time(is)} and not ${time(expected.from)} to ${time(expected.to)}`;
}

const time = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString() : String(ms);

function compareRetention({ retention }: EnvironmentModel, seen: Seen): (string | null)[] {
  if (retention === null || seen.retention === null) {
    return [differs("the environment's retention", retention, seen.retention)];
  }
  return [
    differs("its days", retention.rule.days, seen.retention.days),
    differs("who set it", retention.setBy, seen.retention.setBy),
    differsInTime("when it was set", retention.setAt, seen.retention.setAt),
  ];
}

function extra(present: readonly TableModel[], tables: readonly SeenTable[]): string[] {
  return tables
    .filter(({ tableId }) => !present.some((table) => table.tableId === tableId))
    .map(({ namespace, name, state, tableId }) => `${namespace}.${name} is ${state} (${tableId})`);
}

function compareTable(
  model: EnvironmentModel,
  table: TableModel,
  { tables, expiries }: Seen,
): (string | null)[] {
  const of = `${table.namespace}.${table.name} (${table.tableId})`;
  const seen = tables.find(({ tableId }) => tableId === table.tableId);
  if (seen === undefined) return [`${of} is gone, and should be ${table.state}`];
  const { drop } = table;
  return [
    differs(`${of}: namespace`, table.namespace, seen.namespace),
    differs(`${of}: name`, table.name, seen.name),
    differs(`${of}: kind`, table.kind, seen.kind),
    differs(`${of}: state`, table.state, seen.state),
    differs(`${of}: owner`, table.owner, seen.owner),
    differs(`${of}: description`, table.description, seen.description),
    differs(`${of}: rows`, table.rows, seen.rows),
    differs(`${of}: files`, table.files, seen.files),
    differsInTime(`${of}: created`, table.createdAt, seen.createdAt),
    differsInTime(`${of}: changed`, table.changedAt, seen.changedAt),
    differsInTime(`${of}: restored`, table.restoredAt, seen.restoredAt),
    differsInTime(`${of}: dropped`, drop?.at ?? null, seen.drop?.at ?? null),
    differsInTime(`${of}: undo until`, drop?.undoUntil ?? null, seen.drop?.undoUntil ?? null),
    differs(`${of}: drop reason`, drop?.reason ?? "", seen.drop?.reason ?? ""),
    ...compareExpiry(model, table, expiries.get(table.tableId)),
  ];
}

function compareExpiry(
  model: EnvironmentModel,
  table: TableModel,
  seen: SeenExpiry | undefined,
): (string | null)[] {
  const of = `${table.namespace}.${table.name} (${table.tableId})`;
  if (seen === undefined) return [`${of}: the evaluator does not know it`];
  const expiry = expiryOf(model, table);
  const kinds = table.activity.filter(({ at }) => contains(at, seen.lastActivityAt ?? Number.NaN));
  return [
    differs(`${of}: source`, expiry.source, seen.source),
    differs(`${of}: rule`, ruleText(expiry.rule), seen.rule),
    differs(`${of}: rule set by`, expiry.setBy, seen.setBy),
    differsInTime(`${of}: rule set`, expiry.setAt, seen.setAt),
    differsInTime(`${of}: last activity`, lastActivity(table), seen.lastActivityAt),
    kinds.some(({ kind }) => kind === seen.lastActivityKind)
      ? null
      : `${of}: last activity is ${seen.lastActivityKind}, not ${kinds.map(({ kind }) => kind)}`,
    differsInTime(
      `${of}: expires`,
      table.state === "live" ? expiry.expiresAt : null,
      seen.expiresAt,
    ),
    table.state === "live" ? differs(`${of}: kept`, expiry.kept, seen.kept) : null,
  ];
}

/** A rule in words, for a comparison. */
function ruleText(rule: Rule | null): string {
  if (rule === null) return "";
  if (rule.kind === "days") return `${rule.days} days`;
  return rule.kind === "on" ? `on ${dayOf(rule.midnight)}` : "never";
}

function compareExpiring(model: EnvironmentModel, seen: Seen): (string | null)[] {
  const horizon = plus(seen.now, WARNING_DAYS * DAY_MS);
  const faults = model.tables.map((table) => {
    const { expiresAt } = expiryOf(model, table);
    const soon = table.state === "live" && expiresAt !== null ? hasCome(expiresAt, horizon) : "no";
    const listed = seen.expiring.includes(table.tableId);
    if (listed && soon === "no") return `${table.tableId} is listed as expiring, and is not`;
    return !listed && soon === "yes" ? `${table.tableId} expires soon, and is not listed` : null;
  });
  const times = seen.expiring.map((id) => seen.expiries.get(id)?.expiresAt ?? 0);
  const inOrder = times.every((at, index) => at >= Math.max(...times.slice(0, index)) - LAG_MS);
  return [...faults, inOrder ? null : "what expires is not listed soonest first"];
}

/** The same, where as many reads of each table are counted as were reported (T17). */
export function compareReads(
  model: EnvironmentModel,
  seen: ReadonlyMap<string, number>,
): readonly EnvironmentModel[] | string {
  for (const { tableId, namespace, name, state, reads } of model.tables) {
    const counted = seen.get(tableId);
    // The evaluator has not heard of a staged table that was only read.
    const expected =
      state === "purged" || (state === "staged" && counted === undefined) ? undefined : reads;
    if (counted !== expected) {
      return `${namespace}.${name} (${tableId}): ${counted} reads are counted, not ${expected}`;
    }
  }
  return [model];
}
