import {
  type After,
  aimAt,
  decide,
  during,
  type Fault,
  presenceFaults,
  rightFault,
} from "./judge.ts";
import type { Operation, Outcome } from "./operation.ts";
import { may } from "./people.ts";
import { contains, exactly, hasCome, plus } from "./span.ts";
import { type EnvironmentModel, type TableModel, withTable } from "./state.ts";

type Of<K extends Operation["kind"]> = Extract<Operation, { kind: K }>;

/** How long a hold lasts without a heartbeat, as the system of the test is set: a day and a half. */
export const HOLD_TTL_MS = 36 * 3_600_000;

export function hold(model: EnvironmentModel, { actor }: Of<"hold">, outcome: Outcome): After {
  const { table, faults } = aimAt(model, actor, outcome);
  const all = table
    ? [...rightFault(actor, "table.write", table.owner), ...presenceFaults(table)]
    : faults;
  return decide(model, { actor, outcome }, all, () => {
    const { made = "", until = 0 } = outcome;
    if (table === undefined) return "it was done, and there is no such table";
    if (!lastsItsTime(outcome)) return "the hold does not last its time";
    const holds = [...table.holds, { holdId: made, holder: actor, until: exactly(until) }];
    return [withTable(model, { ...table, holds })];
  });
}

const lastsItsTime = (outcome: Outcome): boolean =>
  contains(plus(during(outcome), HOLD_TTL_MS), outcome.until ?? 0);

function heldBy(model: EnvironmentModel, holdId: string | undefined) {
  for (const table of model.tables) {
    const found = table.holds.find((each) => each.holdId === holdId);
    if (found) return { table, found };
  }
  return undefined;
}

export function renew(model: EnvironmentModel, { actor }: Of<"renew">, outcome: Outcome): After {
  const held = heldBy(model, outcome.holdId);
  const now = during(outcome);
  const faults: Fault[] = [];
  if (held === undefined || actor === "sam") faults.push({ reason: "HOLD_ENDED" });
  else {
    const { table, found } = held;
    faults.push({ reason: "HOLD_ENDED", applies: hasCome(found.until, now) });
    faults.push(...presenceFaults(table));
    if (found.holder !== actor) faults.push({ reason: "RIGHT_MISSING" });
  }
  return decide(model, { actor, outcome }, faults, () => {
    if (held === undefined) return "it was done, and there is no such hold";
    if (!lastsItsTime(outcome)) return "the hold does not last its time";
    return [withHold(model, held.table, { ...held.found, until: exactly(outcome.until ?? 0) })];
  });
}

export function release(
  model: EnvironmentModel,
  { actor }: Of<"release">,
  outcome: Outcome,
): After {
  const held = heldBy(model, outcome.holdId);
  if (held === undefined || actor === "sam")
    return decide(model, { actor, outcome }, [], () => [model]);
  const { table, found } = held;
  const allowed = found.holder === actor || may(actor, "table.drop", table.owner);
  // One that has ended may be removed already, and is then nobody's.
  const ended = hasCome(found.until, during(outcome));
  const faults: Fault[] = allowed
    ? []
    : [{ reason: "RIGHT_MISSING", applies: ended === "no" ? "yes" : "maybe" }];
  return decide(model, { actor, outcome }, faults, () => [
    withTable(model, {
      ...table,
      holds: table.holds.filter(({ holdId }) => holdId !== found.holdId),
    }),
  ]);
}

const withHold = (
  model: EnvironmentModel,
  table: TableModel,
  hold: TableModel["holds"][number],
): EnvironmentModel =>
  withTable(model, {
    ...table,
    holds: table.holds.map((each) => (each.holdId === hold.holdId ? hold : each)),
  });
