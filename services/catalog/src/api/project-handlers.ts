import type { Handlers } from "@lapse/kit";
import {
  type CatalogService,
  type DeployProjectRequest,
  DeployProjectResponseSchema,
  UndeployProjectResponseSchema,
} from "@lapse/proto/catalog";
import {
  type DeployRequest,
  deployProject,
  type ProjectInEnvironment,
} from "../app/deploy-project.ts";
import type { CatalogDeps } from "../app/deps.ts";
import { pageOfProjects } from "../app/read-projects.ts";
import { undeployProject } from "../app/undeploy-project.ts";
import {
  assetList,
  MAX_ASSET_BYTES,
  MAX_ASSETS,
  parseAsset,
  projectNameFault,
  versionFault,
} from "../domain/project.ts";
import { qualifiedName } from "../domain/table.ts";
import { idempotentCall } from "./idempotent-call.ts";
import { pageOf, parseLimit, projectCursor } from "./page.ts";
import { type Faults, note, parsed, parseEnvironmentRef } from "./parse.ts";
import { renderProject } from "./render.ts";

type ProjectHandlers = Pick<
  Handlers<typeof CatalogService>,
  "deployProject" | "undeployProject" | "listProjects"
>;

const render = (entry: ProjectInEnvironment) => ({ project: renderProject(entry) });

export const projectHandlers = (deps: CatalogDeps): ProjectHandlers => ({
  async deployProject(request, context) {
    const input = parsed((faults) => parseDeploy(faults, request));
    const call = idempotentCall(context, DeployProjectResponseSchema, render);
    return deployProject(deps, call, input);
  },

  async undeployProject(request, context) {
    const input = parsed((faults) => ({
      environment: parseEnvironmentRef(faults, request.environment),
      project: parseProject(faults, request.project),
    }));
    const call = idempotentCall(context, UndeployProjectResponseSchema, () => ({}));
    return undeployProject(deps, call, input);
  },

  async listProjects(request, context) {
    const page = parsed((faults) => ({
      environment: parseEnvironmentRef(faults, request.environment),
      limit: parseLimit(faults, request.limit),
      after: projectCursor.read(faults, request.cursor) ?? "",
    }));
    const rows = await pageOfProjects(deps, context, { ...page, limit: page.limit + 1 });
    const { items, nextCursor } = pageOf(
      rows,
      page.limit,
      ({ deployment }) => projectCursor.write(deployment.project),
      ({ deployment }) => assetBytes(deployment.assets),
    );
    return { projects: items.map(renderProject), nextCursor };
  },
});

function parseDeploy(faults: Faults, request: DeployProjectRequest): DeployRequest {
  note(faults, "/version", versionFault(request.version));
  return {
    environment: parseEnvironmentRef(faults, request.environment),
    project: parseProject(faults, request.project),
    version: request.version,
    assets: parseAssets(faults, request.assets),
  };
}

function parseProject(faults: Faults, project: string): string {
  note(faults, "/project", projectNameFault(project));
  return project;
}

function parseAssets(faults: Faults, given: readonly string[]): string[] {
  if (given.length > MAX_ASSETS) {
    note(faults, "/assets", `a version has at most ${MAX_ASSETS} assets`);
    return [];
  }
  if (assetBytes(given) > MAX_ASSET_BYTES) {
    note(faults, "/assets", `all names have at most ${MAX_ASSET_BYTES} bytes together`);
    return [];
  }
  const names = given.flatMap((text, index) => {
    const asset = parseAsset(text);
    if (typeof asset !== "string") return [qualifiedName(asset)];
    note(faults, `/assets/${index}`, asset);
    return [];
  });
  return assetList(names);
}

const assetBytes = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + Buffer.byteLength(name) + 4, 0);
