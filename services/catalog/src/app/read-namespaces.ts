import { listNamespaces } from "../store/namespaces.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { NamespaceInEnvironment } from "./create-namespace.ts";
import type { CatalogDeps } from "./deps.ts";
import { type EnvironmentRef, requireEnvironment } from "./find-environment.ts";

/** The namespaces of an environment by path, those after `after`. */
export const pageOfNamespaces = (
  deps: CatalogDeps,
  caller: Caller,
  page: { readonly environment: EnvironmentRef; readonly after: string; readonly limit: number },
): Promise<NamespaceInEnvironment[]> =>
  recordingRefusals(deps, caller, async () => {
    const { principal } = caller;
    const environment = await requireEnvironment(
      deps.pool,
      principal,
      page.environment,
      "table.read",
    );
    const namespaces = await listNamespaces(deps.pool, {
      ...page,
      environmentId: environment.environmentId,
    });
    return namespaces.map((namespace) => ({ namespace, environment }));
  });
