import { appendEvent } from "@lapse/kit";
import { type Environment, protectEnvironment as protect } from "../domain/environment.ts";
import { environmentChanged } from "../events/environment-events.ts";
import { saveEnvironment } from "../store/environments.ts";
import { environmentResource, requireAnyRight } from "./access.ts";
import { type Call, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { type EnvironmentRef, requireEnvironment } from "./find-environment.ts";

/** Protects an environment, whose tables then never expire (T19), or unprotects it. Nothing to change is fine. */
export const protectEnvironment = <A>(
  deps: CatalogDeps,
  call: Call<Environment, A>,
  input: { readonly environment: EnvironmentRef; readonly protected: boolean },
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const before = await requireEnvironment(tx, principal, input.environment, "update");
    requireAnyRight(principal, ["environment.manage"], environmentResource(before));
    const after = protect(before, input.protected);
    if (after === before) return before;
    await saveEnvironment(tx, after);
    await appendEvent(tx, environmentChanged(after, { actor: principal.subject, traceparent }));
    await appendCatalogDecision(tx, now, {
      type: after.protected ? "ENVIRONMENT_PROTECTED" : "ENVIRONMENT_UNPROTECTED",
      tenant: after.tenant,
      actor: principal.subject,
      resource: environmentResource(after),
      outcome: "done",
      reason: "request",
      details: {},
      traceparent,
    });
    return after;
  });
