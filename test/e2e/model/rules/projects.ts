import { isAsset } from "./expiry.ts";
import { type After, decide, type Fault, rightFault } from "./judge.ts";
import type { Operation, Outcome } from "./operation.ts";
import { type Actor, STRANGER } from "./people.ts";
import { type EnvironmentModel, withDecision } from "./state.ts";

type Of<K extends Operation["kind"]> = Extract<Operation, { kind: K }>;

/** Makes a version of the environment's one project current (T20): no activity of the tables that it builds. */
export function deploy(
  model: EnvironmentModel,
  { actor, version, assets: given }: Of<"deploy">,
  outcome: Outcome,
): After {
  const stored = model.versions[version];
  const faults: Fault[] = [...environmentFaults(actor)];
  if (given.length === 0 && stored === undefined) faults.push({ reason: "VERSION_NOT_FOUND" });
  if (given.length > 0 && stored !== undefined && stored.join() !== given.join()) {
    faults.push({ reason: "VERSION_TAKEN" });
  }
  return decide(model, { actor, outcome }, faults, () => {
    const assets = stored ?? given;
    if (model.deployed?.version === version) return [model];
    const after = {
      ...model,
      deployed: { version, assets },
      versions: { ...model.versions, [version]: assets },
    };
    return [
      withDecision(after, {
        type: "PROJECT_DEPLOYED",
        actor,
        reason: "request",
        details: {
          version,
          previous_version: model.deployed?.version ?? null,
          assets: assets.length,
          tables_changed: changedBetween(model, after),
        },
      }),
    ];
  });
}

/** No version is current any more. */
export function undeploy(
  model: EnvironmentModel,
  { actor }: Of<"undeploy">,
  outcome: Outcome,
): After {
  const { deployed } = model;
  const faults: Fault[] = [...environmentFaults(actor)];
  if (deployed === null) faults.push({ reason: "PROJECT_NOT_FOUND" });
  return decide(model, { actor, outcome }, faults, () => {
    const after = { ...model, deployed: null };
    return [
      withDecision(after, {
        type: "PROJECT_UNDEPLOYED",
        actor,
        reason: "request",
        details: { version: deployed?.version, tables_changed: changedBetween(model, after) },
      }),
    ];
  });
}

/** Who may drop every table of the environment may do it. */
const environmentFaults = (actor: Actor): readonly Fault[] =>
  actor === STRANGER ? [{ reason: "ENVIRONMENT_NOT_FOUND" }] : rightFault(actor, "table.drop");

/** How many live tables became an asset or are none any more. */
const changedBetween = (before: EnvironmentModel, after: EnvironmentModel): number =>
  before.tables.filter(
    (table) => table.state === "live" && isAsset(before, table) !== isAsset(after, table),
  ).length;
