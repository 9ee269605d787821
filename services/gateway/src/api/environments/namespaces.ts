import type { Namespace as NamespaceMessage } from "@lapse/proto/catalog";
import * as z from "zod";
import { reading, writing } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, Nothing, operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { instant, pageOf } from "../render/values.ts";
import {
  Namespace,
  type NamespaceJson,
  NamespacePage,
  NewNamespace,
} from "../schemas/namespace.ts";
import { PageQuery } from "../schemas/pages.ts";
import { EnvironmentName, Namespace as Path } from "../schemas/values.ts";
import { EnvironmentPath, environmentRef } from "./environments.ts";

const NamespacePath = z.strictObject({ env: EnvironmentName, namespace: Path });

/** `/environments/{env}/namespaces` (T31) */
export function namespaceRoutes(api: Api, { peers: { catalog } }: ApiDeps): void {
  api.get(
    "/environments/:env/namespaces",
    {
      schema: operation({
        id: "listNamespaces",
        tag: "Environments",
        summary: "List the namespaces of an environment",
        params: EnvironmentPath,
        query: PageQuery,
        answer: NamespacePage,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const { limit, cursor = "" } = request.query;
      const asked = { environment: environmentRef(request.params.env), limit, cursor };
      const answer = await catalog.listNamespaces(asked, reading(callOf(request, reply)));
      return pageOf(answer.namespaces.map(render), answer.nextCursor);
    },
  );

  api.post(
    "/environments/:env/namespaces",
    {
      schema: operation({
        id: "createNamespace",
        tag: "Environments",
        summary: "Create a namespace",
        description: "Not needed first: a table creates the namespace that it is in.",
        params: EnvironmentPath,
        body: NewNamespace,
        answer: Namespace,
        status: 201,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const { path } = request.body;
      const asked = { environment: environmentRef(request.params.env), path };
      const answer = await catalog.createNamespace(asked, writing(callOf(request, reply)));
      return reply.code(201).send(render(required(answer.namespace, "namespace")));
    },
  );

  api.delete(
    "/environments/:env/namespaces/:namespace",
    {
      schema: operation({
        id: "deleteNamespace",
        tag: "Environments",
        summary: "Delete a namespace",
        description:
          "Refused while it, or one below it, has tables that are there or can still be brought back: the answer names them.",
        params: NamespacePath,
        body: NoBody,
        answer: Nothing,
        status: 204,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const { env, namespace: path } = request.params;
      const asked = { environment: environmentRef(env), path };
      await catalog.deleteNamespace(asked, writing(callOf(request, reply)));
      return reply.code(204).send();
    },
  );
}

const render = (namespace: NamespaceMessage): NamespaceJson => ({
  environment: namespace.environment,
  path: namespace.path,
  created_by: namespace.createdBy,
  created_at: instant(namespace.createdAt, "namespace.created_at"),
});
