import { alreadyExists } from "@lapse/kit";
import type { Environment } from "../domain/environment.ts";
import type { Namespace } from "../domain/namespace.ts";
import { insertNamespace } from "../store/namespaces.ts";
import type { DecidedResource } from "./access.ts";
import { type Call, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import type { EnvironmentRef } from "./find-environment.ts";
import { requireEnvironmentNames } from "./find-names.ts";

/** A namespace, and the environment it is in. */
export interface NamespaceInEnvironment {
  readonly namespace: Namespace;
  readonly environment: Environment;
}

export interface NamespaceRequest {
  readonly environment: EnvironmentRef;
  readonly path: string;
}

/**
 * Creates a namespace, which a table's name does by itself too. A dotted path is one namespace: those above it are not
 * created with it.
 *
 * @throws already_exists `NAME_TAKEN`.
 */
export const createNamespace = <A>(
  deps: CatalogDeps,
  call: Call<NamespaceInEnvironment, A>,
  { path, ...input }: NamespaceRequest,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const environment = await requireEnvironmentNames(
      tx,
      principal,
      input.environment,
      "table.create",
      "share",
    );
    const actor = principal.subject;
    const { environmentId, tenant } = environment;
    const namespace: Namespace = { environmentId, path, createdBy: actor, createdAt: now };
    if (!(await insertNamespace(tx, namespace))) {
      throw alreadyExists("NAME_TAKEN", `there is a namespace ${path} already`);
    }
    await appendCatalogDecision(tx, now, {
      type: "NAMESPACE_CREATED",
      tenant,
      actor,
      resource: namespaceResource(path, environment),
      outcome: "done",
      reason: "request",
      details: {},
      traceparent,
    });
    return { namespace, environment };
  });

/** How the audit log names a namespace. */
export const namespaceResource = (
  path: string,
  environment: Pick<Environment, "environmentId" | "name">,
): DecidedResource => ({
  kind: "namespace",
  id: `${environment.environmentId}/${path}`,
  name: path,
  environment: environment.name,
});
