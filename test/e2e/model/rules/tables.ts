import { isHeld, withActivity } from "./expiry.ts";
import {
  type After,
  aimAt,
  decide,
  during,
  type Fault,
  presenceFaults,
  rightFault,
} from "./judge.ts";
import { type Operation, type Outcome, SLOTS } from "./operation.ts";
import { DAY_MS, plus, type Span } from "./span.ts";
import {
  type EnvironmentModel,
  liveTable,
  type TableModel,
  withDecision,
  withTable,
} from "./state.ts";

type Of<K extends Operation["kind"]> = Extract<Operation, { kind: K }>;

/** How long a table dropped by request or by expiry can be brought back, as the system of the test is set. */
export const UNDO_DAYS = 2;

/** What a change of the table itself leaves: it is activity (T13). */
export const changed = (
  table: TableModel,
  at: Span,
  kind: string,
  patch: Partial<TableModel> = {},
): TableModel => ({
  ...table,
  ...patch,
  changedAt: at,
  activity: withActivity(table.activity, { at, kind }),
});

export function create(model: EnvironmentModel, operation: Of<"create">, outcome: Outcome): After {
  const { actor, tableKind, staged } = operation;
  const slot = SLOTS[operation.slot] ?? SLOTS[0];
  const faults: Fault[] = [...rightFault(actor, "table.create")];
  if (actor === "sam") faults.push({ reason: "ENVIRONMENT_NOT_FOUND" });
  if (liveTable(model, slot.namespace, slot.name)) faults.push({ reason: "NAME_TAKEN" });
  return decide(model, { actor, outcome }, faults, () => {
    const at = during(outcome);
    const table: TableModel = {
      tableId: outcome.made ?? "",
      ...slot,
      kind: tableKind,
      state: staged ? "staged" : "live",
      owner: actor,
      description: "",
      rows: 0,
      files: 0,
      createdAt: at,
      changedAt: at,
      restoredAt: null,
      activity: [{ at, kind: "created" }],
      reads: 0,
      ownRule: null,
      drop: null,
      holds: [],
      unsettled: false,
    };
    const after = withTable(model, table);
    return [staged ? after : withDecision(after, created(table, actor))];
  });
}

/** What was looked at before the change, and then stood for another table. */
export const changedMeanwhile = ({ aim, beside }: Outcome): readonly Fault[] =>
  beside && aim?.by === "name" ? [{ reason: "TABLE_CHANGED", applies: "maybe" }] : [];

export function commit(model: EnvironmentModel, operation: Of<"commit">, outcome: Outcome): After {
  const { actor } = operation;
  const { table, faults } = aimAt(model, actor, outcome);
  const { rows = 0, files = 0 } = outcome;
  const all: Fault[] = [...faults, ...changedMeanwhile(outcome)];
  // Where its file has to go was not known yet.
  if (outcome.beside) all.push({ reason: "FILES_MISSING", applies: "maybe" });
  if (table !== undefined) {
    all.push(...rightFault(actor, "table.write", table.owner), ...presenceFaults(table));
    if (table.kind !== "managed") all.push({ reason: "NOT_MANAGED" });
    if (operation.commit === "maintain" && table.state === "staged") {
      all.push({ reason: "TABLE_STAGED" });
    }
    if (operation.commit === "maintain" && rows !== table.rows) all.push({ reason: "ROWS_DIFFER" });
    if (table.state === "staged" && liveTable(model, table.namespace, table.name)) {
      all.push({ reason: "NAME_TAKEN" });
    }
  }
  return decide(model, { actor, outcome }, all, () => {
    if (table === undefined) return "it was done, and there is no such table";
    const first = table.state === "staged";
    const appended = operation.commit === "append";
    const kind = first ? "created" : operation.commit === "maintain" ? "maintained" : "written";
    const after = withTable(
      model,
      changed(table, during(outcome), kind, {
        state: "live",
        rows: appended ? table.rows + rows : rows,
        files: appended ? table.files + files : files,
        holds: table.holds.filter(
          ({ holdId, holder }) => holdId !== outcome.holdId || holder !== actor,
        ),
      }),
    );
    return [first ? withDecision(after, created(table, actor)) : after];
  });
}

const created = ({ tableId, kind, owner }: TableModel, actor: string) => ({
  type: "TABLE_CREATED",
  resource: tableId,
  actor,
  reason: "request",
  details: { kind, owner },
});

export function describeTable(
  model: EnvironmentModel,
  { actor, text }: Of<"describe">,
  outcome: Outcome,
): After {
  const { table, faults } = aimAt(model, actor, outcome);
  const all = table
    ? [...rightFault(actor, "table.write", table.owner), ...presenceFaults(table)]
    : faults;
  return decide(model, { actor, outcome }, all, () => {
    if (table === undefined) return "it was done, and there is no such table";
    if (table.description === text) return [model];
    return [withTable(model, changed(table, during(outcome), "changed", { description: text }))];
  });
}

export function rename(model: EnvironmentModel, operation: Of<"rename">, outcome: Outcome): After {
  const { actor } = operation;
  const { namespace, name } = SLOTS[operation.slot] ?? SLOTS[0];
  const { table, faults } = aimAt(model, actor, outcome);
  const same = table?.namespace === namespace && table.name === name;
  const taken = table?.state === "live" && !same && liveTable(model, namespace, name);
  const all = table
    ? [
        ...rightFault(actor, "table.drop", table.owner),
        ...presenceFaults(table),
        ...(taken ? [{ reason: "NAME_TAKEN" }] : []),
      ]
    : faults;
  return decide(model, { actor, outcome }, all, () => {
    if (table === undefined) return "it was done, and there is no such table";
    if (same) return [model];
    const renamed = changed(table, during(outcome), "changed", { namespace, name });
    return [
      withDecision(withTable(model, renamed), {
        type: "TABLE_RENAMED",
        resource: table.tableId,
        actor,
        reason: "request",
        details: { former_name: `${table.namespace}.${table.name}` },
      }),
    ];
  });
}

/** Dropped, by whomever: no activity (T27). */
export const dropped = (
  model: EnvironmentModel,
  table: TableModel,
  at: Span,
  reason: "retention" | "request",
): EnvironmentModel => ({
  ...withTable(model, {
    ...table,
    state: "dropped",
    drop: { at, reason, undoUntil: plus(at, UNDO_DAYS * DAY_MS), nth: model.drops + 1 },
  }),
  drops: model.drops + 1,
});

export function drop(model: EnvironmentModel, { actor }: Of<"drop">, outcome: Outcome): After {
  const { table, faults } = aimAt(model, actor, outcome);
  const now = during(outcome);
  const all = table
    ? [
        ...rightFault(actor, "table.drop", table.owner),
        ...presenceFaults(table),
        { reason: "TABLE_HELD", applies: isHeld(table, now) },
      ]
    : faults;
  return decide(model, { actor, outcome }, all, () => {
    if (table === undefined) return "it was done, and there is no such table";
    // A staged table has no users: it is given up for good.
    if (table.state === "staged") return [givenUp(model, table)];
    return [
      withDecision(dropped(model, table, now, "request"), {
        type: "TABLE_DROPPED",
        resource: table.tableId,
        actor,
        reason: "request",
      }),
    ];
  });
}

/** A staged table whose first commit never comes (by then all is quiet, so it is purged). */
export const givenUp = (model: EnvironmentModel, table: TableModel): EnvironmentModel =>
  withDecision(purged(model, table), {
    type: "TABLE_PURGED",
    resource: table.tableId,
    actor: "",
    reason: "never_committed",
  });

export const purged = (model: EnvironmentModel, table: TableModel): EnvironmentModel =>
  withTable(model, { ...table, state: "purged", ownRule: null, holds: [], unsettled: false });
