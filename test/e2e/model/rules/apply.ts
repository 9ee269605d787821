import { deleteEnvironment, protect } from "./environments.ts";
import { hold, release, renew } from "./holds.ts";
import { type After, each } from "./judge.ts";
import type { Performed } from "./operation.ts";
import { deploy, undeploy } from "./projects.ts";
import {
  setEnvironmentRetention,
  setRetention,
  touchEnvironment,
  touchTable,
} from "./retention.ts";
import type { EnvironmentModel } from "./state.ts";
import { commit, create, describeTable, drop, rename } from "./tables.ts";
import { undrop } from "./undrop.ts";
import { use } from "./uses.ts";

/**
 * The states after an operation that came out as it did, or why it could not. `judgedOn` is what it may have been judged
 * on: the state before what was done at the same time.
 */
export function apply(
  model: EnvironmentModel,
  { operation, outcome }: Performed,
  judgedOn: EnvironmentModel = model,
): After {
  switch (operation.kind) {
    case "create":
      return create(model, operation, outcome);
    case "commit":
      return commit(model, operation, outcome);
    case "describe":
      return describeTable(model, operation, outcome);
    case "rename":
      return rename(model, operation, outcome);
    case "deploy":
      return deploy(model, operation, outcome);
    case "undeploy":
      return undeploy(model, operation, outcome);
    case "drop":
      return drop(model, operation, outcome);
    case "undrop":
      return undrop(model, operation, outcome);
    case "setRetention":
      return setRetention(model, operation, outcome, judgedOn);
    case "setEnvironmentRetention":
      return setEnvironmentRetention(model, operation, outcome);
    case "protect":
      return protect(model, operation, outcome);
    case "deleteEnvironment":
      return deleteEnvironment(model, operation, outcome);
    case "touchTable":
      return touchTable(model, outcome);
    case "touchEnvironment":
      return touchEnvironment(model, outcome);
    case "hold":
      return hold(model, operation, outcome);
    case "renew":
      return renew(model, operation, outcome);
    case "release":
      return release(model, operation, outcome);
    case "use":
      return use(model, operation, outcome);
  }
}

/** The states after two operations that were performed at the same time: those of either order. */
export function applyBoth(model: EnvironmentModel, one: Performed, other: Performed): After {
  const orders = [inOrder(model, one, other), inOrder(model, other, one)];
  const possible = orders.filter((after): after is readonly EnvironmentModel[] =>
    Array.isArray(after),
  );
  if (possible.length > 0) return possible.flat();
  return `in neither order: ${orders.join("; ")}`;
}

function inOrder(model: EnvironmentModel, first: Performed, second: Performed): After {
  const between = apply(model, first);
  if (typeof between === "string") return `${first.operation.kind}: ${between}`;
  const after = each(between, (each) => apply(each, second, model));
  return typeof after === "string" ? `${second.operation.kind}: ${after}` : after;
}
