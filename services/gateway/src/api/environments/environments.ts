import type { Environment as EnvironmentMessage } from "@lapse/proto/catalog";
import * as z from "zod";
import type { Call } from "../../app/call.ts";
import { reading, writing } from "../../app/call.ts";
import { withRetention } from "../../app/environment-retention.ts";
import { required } from "../../app/required.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, Nothing, operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderEnvironment } from "../render/environment.ts";
import { pageOf } from "../render/values.ts";
import {
  Environment,
  EnvironmentChange,
  EnvironmentPage,
  NewEnvironment,
} from "../schemas/environment.ts";
import { PageQuery } from "../schemas/pages.ts";
import { EnvironmentName } from "../schemas/values.ts";

export const EnvironmentPath = z.strictObject({ env: EnvironmentName });

/** How the services are told an environment by name. */
export const environmentRef = (name: string) => ({ ref: { case: "name", value: name } as const });

/** `/environments`, `/environments/{env}` */
export function environmentRoutes(api: Api, { peers }: ApiDeps): void {
  const { catalog } = peers;
  const render = async (call: Call, environment: EnvironmentMessage | undefined) => {
    const found = required(environment, "environment");
    const views = await withRetention(peers, call, [found]);
    return renderEnvironment(required(views[0], "environment"));
  };

  api.get(
    "/environments",
    {
      schema: operation({
        id: "listEnvironments",
        tag: "Environments",
        summary: "List environments",
        query: PageQuery,
        answer: EnvironmentPage,
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { limit, cursor = "" } = request.query;
      const page = await catalog.listEnvironments({ limit, cursor }, reading(call));
      const views = await withRetention(peers, call, page.environments);
      return pageOf(views.map(renderEnvironment), page.nextCursor);
    },
  );

  api.post(
    "/environments",
    {
      schema: operation({
        id: "createEnvironment",
        tag: "Environments",
        summary: "Create an environment",
        body: NewEnvironment,
        answer: Environment,
        status: 201,
        problems: [409],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { name, protected: isProtected = false } = request.body;
      const answer = await catalog.createEnvironment(
        { name, protected: isProtected },
        writing(call),
      );
      return reply.code(201).send(await render(call, answer.environment));
    },
  );

  api.get(
    "/environments/:env",
    {
      schema: operation({
        id: "getEnvironment",
        tag: "Environments",
        summary: "Show an environment",
        params: EnvironmentPath,
        answer: Environment,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const environment = environmentRef(request.params.env);
      const answer = await catalog.getEnvironment({ environment }, reading(call));
      return render(call, answer.environment);
    },
  );

  api.patch(
    "/environments/:env",
    {
      schema: operation({
        id: "updateEnvironment",
        tag: "Environments",
        summary: "Protect or unprotect an environment",
        description: "The tables of a protected environment never expire.",
        params: EnvironmentPath,
        body: EnvironmentChange,
        answer: Environment,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const environment = environmentRef(request.params.env);
      const change = { environment, protected: request.body.protected };
      const answer = await catalog.updateEnvironment(change, writing(call));
      return render(call, answer.environment);
    },
  );

  api.delete(
    "/environments/:env",
    {
      schema: operation({
        id: "deleteEnvironment",
        tag: "Environments",
        summary: "Delete an environment",
        description:
          "Refused while it is protected, or has tables that are there or can still be brought back: the answer names them.",
        params: EnvironmentPath,
        body: NoBody,
        answer: Nothing,
        status: 204,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const environment = environmentRef(request.params.env);
      await catalog.deleteEnvironment({ environment }, writing(callOf(request, reply)));
      return reply.code(204).send();
    },
  );
}
