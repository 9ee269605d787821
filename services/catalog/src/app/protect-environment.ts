import { appendEvent } from "@lapse/kit";
import { protectEnvironment as protect } from "../domain/environment.ts";
import { environmentChanged } from "../events/environment-events.ts";
import { saveEnvironment } from "../store/environments.ts";
import { environmentResource } from "./access.ts";
import { type Call, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import type { EnvironmentWithRights } from "./effective-rights.ts";
import { type EnvironmentRef, requireEnvironment } from "./find-environment.ts";

/** Protects an environment, whose tables then never expire (T19), or unprotects it. Nothing to change is fine. */
export const protectEnvironment = <A>(
  deps: CatalogDeps,
  call: Call<EnvironmentWithRights, A>,
  input: { readonly environment: EnvironmentRef; readonly protected: boolean },
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const before = await requireEnvironment(
      tx,
      principal,
      input.environment,
      "environment.manage",
      {
        lock: "update",
      },
    );
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
