import { LapseError, notFound } from "@lapse/kit";
import { notEmpty } from "../domain/blockers.ts";
import { findBlockers } from "../store/blockers.ts";
import { deleteNamespaces } from "../store/namespaces.ts";
import { type Call, change } from "./call.ts";
import { type NamespaceRequest, namespaceResource } from "./create-namespace.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { requireEnvironmentNames } from "./find-names.ts";

/**
 * Deletes a namespace and the empty ones below it. Who may drop every table of the environment by a role may do it.
 *
 * @throws not_found `NAMESPACE_NOT_FOUND`; precondition `NOT_EMPTY` naming the tables in it or below it that are there
 *   or not purged yet (T31).
 */
export const deleteNamespace = <A>(
  deps: CatalogDeps,
  call: Call<void, A>,
  { path, ...input }: NamespaceRequest,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const environment = await requireEnvironmentNames(
      tx,
      principal,
      input.environment,
      "table.drop",
      "update",
    );
    const { environmentId, tenant } = environment;
    const blockers = await findBlockers(tx, { environmentId, namespace: path });
    if (blockers.total > 0) throw new LapseError(notEmpty(`namespace ${path}`, blockers, now));
    const deleted = await deleteNamespaces(tx, { environmentId, path });
    if (deleted.length === 0) {
      throw notFound(
        "NAMESPACE_NOT_FOUND",
        `there is no namespace ${path} in ${environment.name}; see the list of namespaces`,
      );
    }
    await appendCatalogDecision(tx, now, {
      type: "NAMESPACE_DELETED",
      tenant,
      actor: principal.subject,
      resource: namespaceResource(path, environment),
      outcome: "done",
      reason: "request",
      details: { namespaces_below: deleted.length - 1 },
      traceparent,
    });
  });
