import { type After, decide, type Fault } from "./judge.ts";
import type { Operation, Outcome } from "./operation.ts";
import { type Actor, may, STRANGER } from "./people.ts";
import { type EnvironmentModel, withDecision } from "./state.ts";

type Of<K extends Operation["kind"]> = Extract<Operation, { kind: K }>;

/** Who manages environments; a stranger finds none. */
export function manageFaults(actor: Actor): Fault[] {
  if (actor === STRANGER) return [{ reason: "ENVIRONMENT_NOT_FOUND" }];
  return may(actor, "environment.manage") ? [] : [{ reason: "RIGHT_MISSING" }];
}

/** Protects or unprotects (T19). */
export function protect(
  model: EnvironmentModel,
  { actor, protected: wanted }: Of<"protect">,
  outcome: Outcome,
): After {
  return decide(model, { actor, outcome }, manageFaults(actor), () => {
    if (model.protected === wanted) return [model];
    const decision = {
      type: wanted ? "ENVIRONMENT_PROTECTED" : "ENVIRONMENT_UNPROTECTED",
      resource: model.environmentId,
      actor,
      reason: "request",
    };
    return [withDecision({ ...model, protected: wanted, protectionMoved: true }, decision)];
  });
}

/** Refused while it has a table that is there or can come back (T31). */
export function deleteEnvironment(
  model: EnvironmentModel,
  { actor }: Of<"deleteEnvironment">,
  outcome: Outcome,
): After {
  const faults = manageFaults(actor);
  if (model.protected) faults.push({ reason: "ENVIRONMENT_PROTECTED" });
  if (model.tables.some(({ state }) => state !== "purged")) faults.push({ reason: "NOT_EMPTY" });
  return decide(model, { actor, outcome }, faults, () => [
    withDecision(model, {
      type: "ENVIRONMENT_DELETED",
      resource: model.environmentId,
      actor,
      reason: "request",
    }),
  ]);
}
