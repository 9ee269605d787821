import type { Outcome } from "./operation.ts";
import type { Right } from "./people.ts";
import { type Actor, may, STRANGER } from "./people.ts";
import type { Span, Verdict } from "./span.ts";
import {
  type EnvironmentModel,
  liveTable,
  type TableModel,
  tableOf,
  withDecision,
} from "./state.ts";

/** Every state the environment may be in after something; a text says why none fits. */
export type After = readonly EnvironmentModel[] | string;

/** A reason for which a call is refused. */
export interface Fault {
  readonly reason: string;
  /** Left out: yes. */
  readonly applies?: Verdict;
}

/** When a call happened. Stored instants are rounded to a millisecond. */
export const during = ({ began, ended }: Outcome): Span => ({ from: began, to: ended + 1 });

/**
 * A call with any fault that applies for sure is refused, one with none that may apply is done. Which of several
 * faults is named is not said.
 */
export function decide(
  model: EnvironmentModel,
  { actor, outcome }: { readonly actor: Actor; readonly outcome: Outcome },
  faults: readonly Fault[],
  effect: () => After,
): After {
  const applying = faults.filter(({ applies = "yes" }) => applies !== "no");
  const { refused } = outcome;
  if (refused === undefined) {
    const sure = applying.find(({ applies = "yes" }) => applies === "yes");
    return sure ? `it was done, and had to be refused as ${sure.reason}` : effect();
  }
  if (!applying.some(({ reason }) => reason === refused)) {
    const instead = applying.map(({ reason }) => reason).join(" or ");
    return `it was refused as ${refused}, and had to be ${instead === "" ? "done" : `refused as ${instead}`}`;
  }
  return refused === "RIGHT_MISSING" && actor !== STRANGER
    ? [
        withDecision(model, {
          type: "AUTHORIZATION_DENIED",
          actor,
          reason: "right_missing",
        }),
      ]
    : [model];
}

/** The table a call is about, and what refuses it whatever the call is. */
export interface Aimed {
  readonly table: TableModel | undefined;
  readonly faults: readonly Fault[];
}

/** It was there when it was looked for, and dropped when it was to be changed. */
const FOUND_TOO_LATE = ["TABLE_NOT_FOUND", "TABLE_DROPPED"].map((reason) => ({ reason }));

/** The table by its id or as the live one of its name; a stranger finds neither table nor environment. */
export function aimAt(model: EnvironmentModel, actor: Actor, { aim, beside }: Outcome): Aimed {
  if (actor === STRANGER) {
    const faults = [{ reason: "TABLE_NOT_FOUND" }, { reason: "ENVIRONMENT_NOT_FOUND" }];
    return { table: undefined, faults };
  }
  const table =
    aim?.by === "id"
      ? tableOf(model, aim.tableId)
      : aim && liveTable(model, aim.namespace, aim.name);
  return table === undefined || table.state === "purged"
    ? { table: undefined, faults: beside ? FOUND_TOO_LATE : [{ reason: "TABLE_NOT_FOUND" }] }
    : { table, faults: [] };
}

/** A dropped table can only be brought back. */
export function presenceFaults({ state }: TableModel): readonly Fault[] {
  if (state === "staged" || state === "live") return [];
  // Its purge may have begun or ended by now.
  return ["TABLE_DROPPED", "TABLE_PURGING", "TABLE_NOT_FOUND"].map((reason) => ({ reason }));
}

export function rightFault(actor: Actor, right: Right, owner?: string): readonly Fault[] {
  return actor === STRANGER || may(actor, right, owner) ? [] : [{ reason: "RIGHT_MISSING" }];
}

/** What comes of each of several states, as long as there is any. */
export function each(
  models: readonly EnvironmentModel[],
  step: (model: EnvironmentModel) => After,
): After {
  const after: EnvironmentModel[] = [];
  let why = "no state was possible";
  for (const model of models) {
    const next = step(model);
    if (typeof next === "string") why = next;
    else after.push(...next);
  }
  return after.length > 0 ? after : why;
}
