import { appendEvent, LapseError, precondition } from "@lapse/kit";
import { notEmpty } from "../domain/blockers.ts";
import { type Environment, deleteEnvironment as remove } from "../domain/environment.ts";
import { environmentDeleted } from "../events/environment-events.ts";
import { findBlockers } from "../store/blockers.ts";
import { deleteEnvironmentContents } from "../store/environment-contents.ts";
import { saveDeletedEnvironment } from "../store/environments.ts";
import { environmentResource } from "./access.ts";
import { type Call, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import type { EnvironmentRef } from "./find-environment.ts";
import { requireEnvironmentNames } from "./find-names.ts";

/**
 * Deletes an environment, with its namespaces, deployments and the roles in it. Its row stays, so that purged tables and
 * past decisions keep its name, and so does its bucket, empty: in a store whose names are shared by everybody a stranger
 * could take a name that was given up. Another environment of the name is another one, in the same bucket.
 *
 * @throws precondition `ENVIRONMENT_PROTECTED`; `NOT_EMPTY` naming the tables that are there or not purged yet (T31).
 */
export const deleteEnvironment = <A>(
  deps: CatalogDeps,
  call: Call<void, A>,
  ref: EnvironmentRef,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const before = await requireEnvironmentNames(
      tx,
      principal,
      ref,
      "environment.manage",
      "update",
      { lock: "update" },
    );
    const { environmentId } = before;
    if (before.protected) throw isProtected(before);
    const blockers = await findBlockers(tx, { environmentId, namespace: undefined });
    if (blockers.total > 0) {
      throw new LapseError(notEmpty(`environment ${before.name}`, blockers, now));
    }
    const after = remove(before);
    // Nothing of it must come back with another environment; all of it is keyed by its id.
    await deleteEnvironmentContents(tx, environmentId);
    await saveDeletedEnvironment(tx, after, { actor: principal.subject, now });
    await appendEvent(tx, environmentDeleted(after, { actor: principal.subject, traceparent }));
    await appendCatalogDecision(tx, now, {
      type: "ENVIRONMENT_DELETED",
      tenant: after.tenant,
      actor: principal.subject,
      resource: environmentResource(after),
      outcome: "done",
      reason: "request",
      details: {},
      traceparent,
    });
  });

const isProtected = ({ name }: Environment) =>
  precondition(
    "ENVIRONMENT_PROTECTED",
    `environment ${name} is protected; unprotect it first if it is really to go`,
  );
