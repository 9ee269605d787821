import type { Environment } from "../domain/environment.ts";
import type { Deployment } from "../domain/project.ts";
import type { DecidedResource } from "./access.ts";

/** How the audit log names a project in an environment. */
export const projectResource = (
  { project }: Pick<Deployment, "project">,
  environment: Pick<Environment, "environmentId" | "name">,
): DecidedResource => ({
  kind: "project",
  id: `${environment.environmentId}/${project}`,
  name: project,
  environment: environment.name,
});
