import { notFound } from "@lapse/kit";
import { deleteDeployment, findDeployment } from "../store/projects.ts";
import { type Call, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import type { EnvironmentRef } from "./find-environment.ts";
import { requireEnvironmentNames } from "./find-names.ts";
import { flipAssets } from "./flip-assets.ts";
import { projectResource } from "./project-resource.ts";

/**
 * Ends that a version of the project is current in the environment: nothing keeps its tables for it any more (T20). Its
 * versions stay known, so that one can be deployed again by its name.
 *
 * @throws not_found `PROJECT_NOT_FOUND`.
 */
export const undeployProject = <A>(
  deps: CatalogDeps,
  call: Call<void, A>,
  input: { readonly environment: EnvironmentRef; readonly project: string },
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
    const { environmentId, name, tenant } = environment;
    const { project } = input;
    const before = await findDeployment(tx, { environmentId, project });
    if (!before) {
      throw notFound(
        "PROJECT_NOT_FOUND",
        `no version of project ${project} is current in ${name}; see the list of projects`,
      );
    }
    const flipped = await flipAssets(tx, call, { environment, project, assets: [] });
    await deleteDeployment(tx, before);
    await appendCatalogDecision(tx, now, {
      type: "PROJECT_UNDEPLOYED",
      tenant,
      actor: principal.subject,
      resource: projectResource(before, environment),
      outcome: "done",
      reason: "request",
      details: { version: before.version, tables_changed: flipped },
      traceparent,
    });
  });
