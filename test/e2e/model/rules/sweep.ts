import { apply } from "./apply.ts";
import { isAsset, isDroppable, isDue, isHeld } from "./expiry.ts";
import type { After } from "./judge.ts";
import { each } from "./judge.ts";
import type { Performed } from "./operation.ts";
import type { Span } from "./span.ts";
import { type EnvironmentModel, liveTable, type TableModel, tableOf } from "./state.ts";
import { settled, take } from "./sweep-effects.ts";
import { use } from "./uses.ts";

/** What a sweep said of the tables that it found due; of the others it says nothing. */
export interface SweepSeen {
  readonly during: Span;
  readonly outcomes: ReadonlyMap<string, { readonly outcome: string; readonly reason: string }>;
}

/**
 * When something was done while a sweep ran: beside it, at any time; after it had found tables due and before the
 * catalog asked whether they are; after that was answered and before the catalog decided.
 */
export type Moment = "beside" | "before confirming" | "after confirming";

/** The states after a sweep that came out as it did, or why it could not. */
export function sweep(model: EnvironmentModel, seen: SweepSeen): After {
  for (const table of model.tables) {
    const fault = faultOf(model, model, table, seen, { moment: "beside", touched: "nothing" });
    if (fault !== null) return `${nameOf(table)} ${fault}`;
  }
  return [settled(take(model, seen, seen.outcomes.keys()))];
}

/** The same where something was done meanwhile. */
export function sweepWith(
  model: EnvironmentModel,
  seen: SweepSeen,
  { performed, moment }: { readonly performed: Performed; readonly moment: Moment },
): After {
  const droppedIds = [...seen.outcomes].flatMap(([id, { outcome }]) =>
    outcome === "dropped" ? [id] : [],
  );
  const orders = ordersOf(droppedIds, { performed, moment });
  const states: EnvironmentModel[] = [];
  let why = "";
  for (const first of orders) {
    const after = inThatOrder(model, seen, { performed, moment, first });
    if (typeof after === "string") why = after;
    else states.push(...after);
  }
  return states.length > 0 ? states : why;
}

/** Which of the drops may have come before it; of those that do not depend on it either order gives the same. */
function ordersOf(
  droppedIds: readonly string[],
  { performed, moment }: { readonly performed: Performed; readonly moment: Moment },
): readonly (readonly string[])[] {
  if (moment === "beside" && droppedIds.length > 0) {
    return [[], droppedIds, ...droppedIds.map((id) => [id])];
  }
  // What was confirmed to be due is dropped, though it is used since; of the next batch it is told before.
  const isLate = moment === "after confirming" && performed.operation.kind === "use";
  return isLate ? [droppedIds, []] : [[]];
}

function inThatOrder(
  model: EnvironmentModel,
  seen: SweepSeen,
  { performed, moment, first }: { performed: Performed; moment: Moment; first: readonly string[] },
): After {
  const early = first.map((id) => tableOf(model, id));
  const undroppable = early.find(
    (table) => !table || isDroppable(model, table, seen.during) === "no",
  );
  if (undroppable) return `${nameOf(undroppable)} was dropped, and must not have been`;
  const before = take(model, seen, first);
  const done = doneWithin(model, before, seen, { performed, moment });
  if (typeof done === "string") return `${performed.operation.kind}: ${done}`;
  return each(done, (after) => {
    for (const table of after.tables) {
      if (first.includes(table.tableId)) continue;
      const touched =
        performed.outcome.refused === undefined
          ? touchedBy(performed, { before, after, table })
          : "nothing";
      const fault = faultOf(model, after, table, seen, { moment, touched });
      if (fault !== null) return `${nameOf(table)} ${fault}`;
    }
    const rest = [...seen.outcomes.keys()].filter((id) => !first.includes(id));
    const taken = take(after, seen, rest);
    const isTouch = ["touchTable", "touchEnvironment"].includes(performed.operation.kind);
    // A touch beside the sweep may come after what was settled by it.
    return isTouch && moment === "beside" ? [taken, settled(taken)] : [settled(taken)];
  });
}

/** What an operation comes to while a sweep runs. A use by name counts for the table that the name stands for. */
function doneWithin(
  former: EnvironmentModel,
  model: EnvironmentModel,
  { outcomes }: SweepSeen,
  { performed, moment }: { performed: Performed; moment: Moment },
): After {
  const { operation, outcome } = performed;
  const { aim } = outcome;
  if (operation.kind !== "use" || aim?.by !== "name") {
    return apply(model, performed, former);
  }
  const table = liveTable(former, aim.namespace, aim.name);
  if (table === undefined) return [model];
  const { tableId } = table;
  const { times } = operation;
  const counted = (often: number): After =>
    use(model, { ...operation, times: often }, { ...outcome, aim: { by: "id", tableId } });
  const mayComeLate =
    moment !== "before confirming" && outcomes.get(tableId)?.outcome === "dropped";
  if (!mayComeLate) return counted(times);
  return Array.from({ length: times + 1 }, (_, often) => counted(often)).flatMap((after) =>
    typeof after === "string" ? [] : after,
  );
}

/** What an operation that was done has to do with a table. */
type Touched = "row" | "retention" | "gone" | "environment" | "hold" | "use" | "nothing";

function touchedBy(
  { operation }: Performed,
  {
    before,
    after,
    table,
  }: { before: EnvironmentModel; after: EnvironmentModel; table: TableModel },
): Touched {
  // A table that nothing was done to is the same object.
  const isOther = tableOf(before, table.tableId) !== table;
  switch (operation.kind) {
    case "setEnvironmentRetention":
    case "touchEnvironment":
      return "environment";
    case "protect":
      return before.protected === after.protected ? "nothing" : "environment";
    case "setRetention":
    case "touchTable":
    case "undrop":
      return isOther ? "retention" : "nothing";
    case "commit":
    case "describe":
    case "rename":
      return isOther ? "row" : "nothing";
    case "deploy":
    case "undeploy":
      return isAsset(before, table) === isAsset(after, table) ? "nothing" : "row";
    case "drop":
      return isOther ? "gone" : "nothing";
    case "hold":
    case "renew":
      return isOther ? "hold" : "nothing";
    case "use":
      return isOther ? "use" : "nothing";
    case "create":
    case "deleteEnvironment":
    case "release":
      return "nothing";
  }
}

/** Why a table that something was done to meanwhile may be kept. */
const REASONS: Readonly<Record<Touched, readonly string[]>> = {
  row: ["changed", "not_due", "unconfirmed", "project_asset"],
  retention: ["policy_changed", "changed", "not_due", "unconfirmed"],
  gone: ["already_dropped", "not_due", "unconfirmed"],
  environment: ["policy_changed", "protected", "not_due", "unconfirmed"],
  hold: ["held"],
  use: ["not_due"],
  nothing: [],
};

/** What is wrong with what the sweep said, or did not say, of a table; null: nothing. */
function faultOf(
  before: EnvironmentModel,
  after: EnvironmentModel,
  table: TableModel,
  { during, outcomes }: SweepSeen,
  { moment, touched }: { readonly moment: Moment; readonly touched: Touched },
): string | null {
  const former = tableOf(before, table.tableId);
  const dueBefore = former ? isDue(before, former, during) : "no";
  const dueAfter = isDue(after, table, during);
  const said = outcomes.get(table.tableId);
  if (said === undefined) {
    const sure = dueBefore === "yes" && (moment !== "beside" || dueAfter === "yes");
    return sure ? "was due, and the sweep did not take it" : null;
  }
  if (dueBefore === "no" && dueAfter === "no") return `was ${said.outcome}, and was not due`;
  switch (said.outcome) {
    case "dropped":
      return dropFault(before, after, { table, former, during, moment, touched });
    case "kept": {
      const { reason } = said;
      const models = [former && { model: before, table: former }, { model: after, table }];
      const allowed = models.some(
        (each) => each && isKeptFor(each.model, each.table, reason, during),
      );
      return allowed || REASONS[touched].includes(reason)
        ? null
        : `was kept as ${reason}, and had to be dropped`;
    }
    default:
      return `ended as ${said.outcome} ${said.reason}`;
  }
}

function isKeptFor(model: EnvironmentModel, table: TableModel, reason: string, now: Span): boolean {
  if (reason === "held") return isHeld(table, now) !== "no";
  return reason === "policy_changed" && (table.unsettled || model.unsettled);
}

function dropFault(
  before: EnvironmentModel,
  after: EnvironmentModel,
  {
    table,
    former,
    during,
    moment,
    touched,
  }: {
    table: TableModel;
    former: TableModel | undefined;
    during: Span;
    moment: Moment;
    touched: Touched;
  },
): string | null {
  const wrong = "was dropped, and must not have been";
  const could = former !== undefined && isDroppable(before, former, during) !== "no";
  const can = isDroppable(after, table, during) !== "no";
  if (moment === "beside") return can ? null : wrong;
  // The catalog decided after it was done: whatever it changed in the catalog had to keep the table.
  if (touched !== "nothing" && touched !== "use") return wrong;
  // A use that had reached the stream before the catalog asked counts.
  return moment === "before confirming" ? (could && can ? null : wrong) : could ? null : wrong;
}

const nameOf = (table: TableModel | undefined): string =>
  table ? `${table.namespace}.${table.name} (${table.tableId})` : "an unknown table";
