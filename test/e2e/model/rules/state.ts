import type { Span } from "./span.ts";

/** When a table expires by its own rule (T4); a day of the calendar is its midnight in UTC. */
export type Rule =
  | { readonly kind: "days"; readonly days: number }
  | { readonly kind: "on"; readonly midnight: number }
  | { readonly kind: "never" };

/** A rule, who set it and when. */
export interface SetRule<R = Rule> {
  readonly rule: R;
  readonly setBy: string;
  readonly setAt: Span;
}

/** A use or change of a table (T13). */
export interface Activity {
  readonly at: Span;
  readonly kind: string;
}

/** A lease that keeps a table from being dropped (T21). */
interface HoldModel {
  readonly holdId: string;
  readonly holder: string;
  readonly until: Span;
}

interface DropModel {
  readonly at: Span;
  readonly reason: "retention" | "request";
  readonly undoUntil: Span;
  /** Rises with every drop in the environment. */
  readonly nth: number;
}

/** What a table should be. A purge takes no time here: a table is dropped, then purged. */
export interface TableModel {
  readonly tableId: string;
  readonly namespace: string;
  readonly name: string;
  readonly kind: "managed" | "view";
  readonly state: "staged" | "live" | "dropped" | "purged";
  readonly owner: string;
  readonly description: string;
  readonly rows: number;
  readonly files: number;
  readonly createdAt: Span;
  readonly changedAt: Span;
  readonly restoredAt: Span | null;
  /** Those of which each may be the last. */
  readonly activity: readonly Activity[];
  /** How many reads have been reported (T17). */
  readonly reads: number;
  readonly ownRule: SetRule | null;
  readonly drop: DropModel | null;
  readonly holds: readonly HoldModel[];
  /** A change of its retention began and was never committed: the next sweep keeps it, and settles that. */
  readonly unsettled: boolean;
}

/** A use reported by the name of a table, whichever that turns out to be. */
export interface NamedUse extends Activity {
  readonly namespace: string;
  readonly name: string;
}

/** A decision that has to be recorded, once. Fields left out may be anything. */
export interface ExpectedDecision {
  readonly type: string;
  /** Id of the table or environment; undefined: it need not be known. */
  readonly resource?: string;
  /** Empty: a worker decided. */
  readonly actor: string;
  readonly reason: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What an environment with all its tables, present and past, should be: plain data. */
export interface EnvironmentModel {
  readonly environmentId: string;
  readonly name: string;
  readonly protected: boolean;
  /** It was protected or unprotected since all was quiet: a change of retention may be judged as before that. */
  readonly protectionMoved: boolean;
  /** Its retention (T7), or that it was turned off; null: nobody has ever set one. */
  readonly retention: SetRule<{ readonly days: number | null }> | null;
  /** As of a table, of its retention. */
  readonly unsettled: boolean;
  /** The names that the version of its project that is current builds (T20); null: none is. */
  readonly deployed: { readonly version: string; readonly assets: readonly string[] } | null;
  /** What each version of its project builds, for good. */
  readonly versions: Readonly<Record<string, readonly string[]>>;
  readonly tables: readonly TableModel[];
  /** Uses by name whose table is not told until all is quiet. */
  readonly namedUses: readonly NamedUse[];
  /** The ids that each name has stood for since all was quiet; "": none. */
  readonly standingFor: Readonly<Record<string, readonly string[]>>;
  /** Decisions since the last comparison. */
  readonly decisions: readonly ExpectedDecision[];
  readonly drops: number;
  /** While a sweep is gone through: a table was kept because a change of retention is half done. */
  readonly settling?: boolean;
}

/** The table of this id. */
export const tableOf = (model: EnvironmentModel, tableId: string): TableModel | undefined =>
  model.tables.find((table) => table.tableId === tableId);

/** The live table of this name. */
export const liveTable = (
  model: EnvironmentModel,
  namespace: string,
  name: string,
): TableModel | undefined =>
  model.tables.find(
    (table) => table.state === "live" && table.namespace === namespace && table.name === name,
  );

/** The same with one table in place of what it was, or added. */
export function withTable(model: EnvironmentModel, table: TableModel): EnvironmentModel {
  const known = model.tables.some(({ tableId }) => tableId === table.tableId);
  const tables = known
    ? model.tables.map((each) => (each.tableId === table.tableId ? table : each))
    : [...model.tables, table];
  return noteNames({ ...model, tables });
}

export const withDecision = (
  model: EnvironmentModel,
  decision: ExpectedDecision,
): EnvironmentModel => ({ ...model, decisions: [...model.decisions, decision] });

/** Notes for every name that is in use what it stands for now. */
function noteNames(model: EnvironmentModel): EnvironmentModel {
  const names = new Set([
    ...Object.keys(model.standingFor),
    ...model.tables.map(({ namespace, name }) => `${namespace}.${name}`),
  ]);
  const standingFor: Record<string, readonly string[]> = {};
  for (const full of names) {
    const dot = full.lastIndexOf(".");
    const now = liveTable(model, full.slice(0, dot), full.slice(dot + 1))?.tableId ?? "";
    const before = model.standingFor[full] ?? [""];
    standingFor[full] = before.includes(now) ? before : [...before, now];
  }
  return { ...model, standingFor };
}

/** Forgets what names stood for before: everything is folded. */
export function forgetNames(model: EnvironmentModel): EnvironmentModel {
  const standingFor: Record<string, readonly string[]> = {};
  for (const { namespace, name } of model.tables) {
    standingFor[`${namespace}.${name}`] = [liveTable(model, namespace, name)?.tableId ?? ""];
  }
  return { ...model, standingFor };
}

/** Each of the states once. */
export const distinct = (models: readonly EnvironmentModel[]): readonly EnvironmentModel[] =>
  models.length === 1
    ? models
    : [...new Map(models.map((model) => [JSON.stringify(model), model])).values()];
