import { type After, aimAt, decide, during, type Fault, rightFault } from "./judge.ts";
import type { Operation, Outcome } from "./operation.ts";
import { exactly, hasCome, type Span } from "./span.ts";
import {
  type EnvironmentModel,
  liveTable,
  type TableModel,
  tableOf,
  withDecision,
  withTable,
} from "./state.ts";
import { changed, changedMeanwhile } from "./tables.ts";

type Of<K extends Operation["kind"]> = Extract<Operation, { kind: K }>;

/** Brings a dropped table back (T28, T29, T30). */
export function undrop(
  model: EnvironmentModel,
  { actor, asName }: Of<"undrop">,
  outcome: Outcome,
): After {
  const { aim } = outcome;
  const stranger = actor === "sam";
  const table =
    aim?.by === "id"
      ? tableOf(model, aim.tableId)
      : aim && lastDropped(model, aim.namespace, aim.name);
  const now = during(outcome);
  const faults: Fault[] =
    stranger || table === undefined
      ? aimAt(model, actor, outcome).faults.concat({ reason: "TABLE_NOT_FOUND" })
      : undropFaults(model, table, asName ?? table.name, now).concat(
          rightFault(actor, "table.drop", table.owner),
          changedMeanwhile(outcome),
        );
  // Somebody else brought back the one that was found.
  if (outcome.beside && aim?.by === "name") {
    faults.push({ reason: "TABLE_NOT_DROPPED", applies: "maybe" });
  }
  return decide(model, { actor, outcome }, faults, () => {
    if (table === undefined) return "it was done, and there is no such dropped table";
    const back = changed(table, now, "restored", {
      state: "live",
      name: asName ?? table.name,
      restoredAt: now,
      drop: null,
      unsettled: false,
    });
    const restored = withDecision(withTable(model, back), {
      type: "TABLE_RESTORED",
      resource: table.tableId,
      actor,
      reason: "request",
    });
    // A day that had come by then is removed, or the table would go again at once (T28).
    const { ownRule } = back;
    const passed =
      ownRule?.rule.kind === "on" ? hasCome(exactly(ownRule.rule.midnight), now) : "no";
    const removed = withDecision(withTable(restored, { ...back, ownRule: null }), {
      type: "TABLE_RETENTION_CLEARED",
      resource: table.tableId,
      actor,
      reason: "restored",
    });
    return [...(passed === "yes" ? [] : [restored]), ...(passed === "no" ? [] : [removed])];
  });
}

function undropFaults(
  model: EnvironmentModel,
  { state, namespace, drop }: TableModel,
  name: string,
  now: Span,
): Fault[] {
  const taken: Fault[] = liveTable(model, namespace, name) ? [{ reason: "NAME_TAKEN" }] : [];
  if (state === "staged" || state === "live") return [{ reason: "TABLE_NOT_DROPPED" }, ...taken];
  // A purge begins and ends by itself once the undo period is over.
  const over = drop === null || state === "purged" ? "yes" : hasCome(drop.undoUntil, now);
  return [
    ...taken,
    ...["UNDO_PERIOD_OVER", "TABLE_PURGING"].map((reason) => ({ reason, applies: over })),
  ];
}

/** The generation of a name that was dropped last, also when it is purged by now (T28, T29). */
const lastDropped = (
  model: EnvironmentModel,
  namespace: string,
  name: string,
): TableModel | undefined =>
  model.tables
    .filter((each) => each.drop !== null && each.namespace === namespace && each.name === name)
    .sort((a, b) => (b.drop?.nth ?? 0) - (a.drop?.nth ?? 0))[0];
