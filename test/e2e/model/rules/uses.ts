import { withActivity } from "./expiry.ts";
import type { After } from "./judge.ts";
import type { Operation, Outcome } from "./operation.ts";
import { exactly, type Span } from "./span.ts";
import {
  type Activity,
  distinct,
  type EnvironmentModel,
  forgetNames,
  type NamedUse,
  tableOf,
  withTable,
} from "./state.ts";

type Use = Extract<Operation, { kind: "use" }>;

const MINUTE_MS = 60_000;
/** An event for the future counts as now from here on (T14). */
const AHEAD_MS = 5 * MINUTE_MS;

/** A use that was reported, by the id of a table or by its name (T13, T14). */
export function use(model: EnvironmentModel, { use, times }: Use, outcome: Outcome): After {
  const { aim } = outcome;
  const activity: Activity = { at: usedAt(outcome), kind: use };
  if (aim === undefined) return [model];
  let after = model;
  for (let nth = 0; nth < times; nth++) {
    if (aim.by === "id") after = used(after, aim.tableId, activity);
    else {
      const { namespace, name } = aim;
      after = { ...after, namedUses: [...after.namedUses, { ...activity, namespace, name }] };
    }
  }
  return [after];
}

function usedAt({ began, ended, occurredAt }: Outcome): Span {
  if (occurredAt === undefined) return { from: began, to: ended + 1 };
  // Clamped when it is folded, which is not known yet.
  if (occurredAt - began > AHEAD_MS) return { from: began, to: ended + MINUTE_MS };
  return exactly(occurredAt);
}

/** Counts whatever has become of the table, so that it still counts once the table is back. */
function used(model: EnvironmentModel, tableId: string, activity: Activity): EnvironmentModel {
  const table = tableOf(model, tableId);
  if (table === undefined || table.state === "purged") return model;
  return withTable(model, {
    ...table,
    activity: withActivity(table.activity, activity),
    reads: table.reads + Number(activity.kind === "read"),
  });
}

/**
 * All is folded: each use by name has counted for one of the tables that the name stood for since all was quiet
 * before, or for none, where there was none.
 */
export function quiet(model: EnvironmentModel): readonly EnvironmentModel[] {
  let models: readonly EnvironmentModel[] = [{ ...model, namedUses: [], protectionMoved: false }];
  for (const named of model.namedUses) {
    models = distinct(models.flatMap((each) => countNamed(each, model, named)));
  }
  return models.map(forgetNames);
}

function countNamed(
  model: EnvironmentModel,
  { standingFor }: EnvironmentModel,
  { namespace, name, at, kind }: NamedUse,
): readonly EnvironmentModel[] {
  const ids = standingFor[`${namespace}.${name}`] ?? [""];
  return ids.map((tableId) => (tableId === "" ? model : used(model, tableId, { at, kind })));
}
