import type { Project as ProjectMessage } from "@lapse/proto/catalog";
import * as z from "zod";
import { reading, writing } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, Nothing, operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { instant, pageOf } from "../render/values.ts";
import { PageQuery } from "../schemas/pages.ts";
import {
  Deployment,
  Project,
  type ProjectJson,
  ProjectName,
  ProjectPage,
} from "../schemas/project.ts";
import { EnvironmentName } from "../schemas/values.ts";
import { EnvironmentPath, environmentRef } from "./environments.ts";

/** Ten thousand names, most of them long. */
const MAX_BODY = 4 * 1024 * 1024;

const ProjectPath = z.strictObject({ env: EnvironmentName, project: ProjectName });

/** `/environments/{env}/projects`: what is deployed there (T20). */
export function projectRoutes(api: Api, { peers: { catalog } }: ApiDeps): void {
  api.get(
    "/environments/:env/projects",
    {
      schema: operation({
        id: "listProjects",
        tag: "Environments",
        summary: "List the projects that are deployed in an environment, with their assets",
        params: EnvironmentPath,
        query: PageQuery,
        answer: ProjectPage,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const { limit, cursor = "" } = request.query;
      const asked = { environment: environmentRef(request.params.env), limit, cursor };
      const answer = await catalog.listProjects(asked, reading(callOf(request, reply)));
      return pageOf(answer.projects.map(render), answer.nextCursor);
    },
  );

  api.put(
    "/environments/:env/projects/:project",
    {
      bodyLimit: MAX_BODY,
      schema: operation({
        id: "deployProject",
        tag: "Environments",
        summary: "Make a version of a project current in an environment",
        description: "The tables that it builds never expire there.",
        params: ProjectPath,
        body: Deployment,
        answer: Project,
        problems: [404, 409, 429],
      }),
    },
    async (request, reply) => {
      const { env, project } = request.params;
      const { version, assets = [] } = request.body;
      const asked = { environment: environmentRef(env), project, version, assets };
      const answer = await catalog.deployProject(asked, writing(callOf(request, reply)));
      return render(required(answer.project, "project"));
    },
  );

  api.delete(
    "/environments/:env/projects/:project",
    {
      schema: operation({
        id: "undeployProject",
        tag: "Environments",
        summary: "Take a project out of an environment",
        description: "The tables that it built can expire again, by their rules and activity.",
        params: ProjectPath,
        body: NoBody,
        answer: Nothing,
        status: 204,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const { env, project } = request.params;
      const asked = { environment: environmentRef(env), project };
      await catalog.undeployProject(asked, writing(callOf(request, reply)));
      return reply.code(204).send();
    },
  );
}

const render = (project: ProjectMessage): ProjectJson => ({
  name: project.name,
  environment: project.environment,
  version: project.version,
  assets: project.assets,
  deployed_by: project.deployedBy,
  deployed_at: instant(project.deployedAt, "project.deployed_at"),
});
