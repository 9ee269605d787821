import { listDeployments } from "../store/projects.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { ProjectInEnvironment } from "./deploy-project.ts";
import type { CatalogDeps } from "./deps.ts";
import { type EnvironmentRef, requireEnvironment } from "./find-environment.ts";

/** The projects that are current in an environment by name, those after `after`. */
export const pageOfProjects = (
  deps: CatalogDeps,
  caller: Caller,
  page: { readonly environment: EnvironmentRef; readonly after: string; readonly limit: number },
): Promise<ProjectInEnvironment[]> =>
  recordingRefusals(deps, caller, async () => {
    const { principal } = caller;
    const environment = await requireEnvironment(
      deps.pool,
      principal,
      page.environment,
      "table.read",
    );
    const deployments = await listDeployments(deps.pool, {
      ...page,
      environmentId: environment.environmentId,
    });
    return deployments.map((deployment) => ({ deployment, environment }));
  });
