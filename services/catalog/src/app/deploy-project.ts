import { conflict, exhausted, notFound, type Queryable } from "@lapse/kit";
import type { Environment } from "../domain/environment.ts";
import { type AssetName, type Deployment, MAX_DEPLOYMENTS, parseAsset } from "../domain/project.ts";
import {
  countDeployments,
  type DeployedProject,
  findDeployment,
  findVersion,
  insertVersion,
  saveDeployment,
} from "../store/projects.ts";
import { type Call, type Caller, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import type { EnvironmentRef } from "./find-environment.ts";
import { requireEnvironmentNames } from "./find-names.ts";
import { flipAssets } from "./flip-assets.ts";
import { projectResource } from "./project-resource.ts";

export interface DeployRequest {
  readonly environment: EnvironmentRef;
  readonly project: string;
  readonly version: string;
  /** Qualified names as `assetList` orders them; none: those that this version had before. */
  readonly assets: readonly string[];
}

/** A deployed project, and the environment that it is current in. */
export interface ProjectInEnvironment {
  readonly deployment: DeployedProject;
  readonly environment: Environment;
}

/**
 * Makes a version of a project current in an environment: from the commit on, the live tables it builds are kept (T20),
 * and those that only its former version built are not. Who may drop every table there by a role may do it: a table that
 * is no asset any more expires sooner. The version that is current already changes nothing.
 *
 * @throws conflict `VERSION_TAKEN` when the version was deployed with other assets; not_found `VERSION_NOT_FOUND` without
 *   any, when it was never deployed; exhausted `TOO_MANY_PROJECTS`.
 */
export const deployProject = <A>(
  deps: CatalogDeps,
  call: Call<ProjectInEnvironment, A>,
  input: DeployRequest,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal } = call;
    const environment = await requireEnvironmentNames(
      tx,
      principal,
      input.environment,
      "table.drop",
      "update",
    );
    const { environmentId, tenant } = environment;
    const { project, version } = input;
    const before = await findDeployment(tx, { environmentId, project });
    if (!before && (await countDeployments(tx, environmentId)) >= MAX_DEPLOYMENTS) {
      throw tooMany(environment);
    }
    const actor = principal.subject;
    const assets = await assetsOf(tx, { ...input, tenant, actor, now });
    const deployment: Deployment =
      before?.version === version
        ? before
        : { environmentId, tenant, project, version, deployedBy: actor, deployedAt: now };
    const result = { deployment: { ...deployment, assets }, environment };
    if (deployment === before) return result;
    const names = assets.map(parseAsset).filter(isName);
    // Tables first, see lockNames: what a deployment writes locks the environment's row.
    const flipped = await flipAssets(tx, call, { environment, project, assets: names });
    await saveDeployment(tx, deployment, names);
    await recordDeployed(tx, now, call, { result, before, flipped });
    return result;
  });

const isName = (asset: AssetName | string): asset is AssetName => typeof asset !== "string";

/** The assets of the version, stored with it now where it is new. */
async function assetsOf(
  tx: Queryable,
  {
    tenant,
    project,
    version,
    assets,
    ...origin
  }: DeployRequest & { readonly tenant: string; readonly actor: string; readonly now: Date },
): Promise<readonly string[]> {
  const key = { tenant, project, version };
  if (assets.length > 0) await insertVersion(tx, key, { assets, ...origin });
  const stored = await findVersion(tx, key);
  if (!stored) {
    throw notFound(
      "VERSION_NOT_FOUND",
      `version ${version} of project ${project} was never deployed, so its assets are not known: give them`,
    );
  }
  const same = stored.length === assets.length && stored.every((name, at) => name === assets[at]);
  if (assets.length > 0 && !same) {
    throw conflict(
      "VERSION_TAKEN",
      `version ${version} of project ${project} was deployed with other assets, and a version never changes; deploy these as another version`,
    );
  }
  return stored;
}

const recordDeployed = (
  tx: Queryable,
  now: Date,
  { principal, traceparent }: Caller,
  {
    result: { deployment, environment },
    before,
    flipped,
  }: {
    readonly result: ProjectInEnvironment;
    readonly before: Deployment | undefined;
    readonly flipped: number;
  },
) =>
  appendCatalogDecision(tx, now, {
    type: "PROJECT_DEPLOYED",
    tenant: environment.tenant,
    actor: principal.subject,
    resource: projectResource(deployment, environment),
    outcome: "done",
    reason: "request",
    details: {
      version: deployment.version,
      previous_version: before?.version ?? null,
      assets: deployment.assets.length,
      tables_changed: flipped,
    },
    traceparent,
  });

const tooMany = ({ name }: Environment) =>
  exhausted(
    "TOO_MANY_PROJECTS",
    `environment ${name} has ${MAX_DEPLOYMENTS} projects already; undeploy those that are not needed`,
  );
