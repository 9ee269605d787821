import type { Handlers } from "@lapse/kit";
import {
  type CatalogService,
  CreateNamespaceResponseSchema,
  DeleteNamespaceResponseSchema,
} from "@lapse/proto/catalog";
import { createNamespace, type NamespaceInEnvironment } from "../app/create-namespace.ts";
import { deleteNamespace } from "../app/delete-namespace.ts";
import type { CatalogDeps } from "../app/deps.ts";
import { pageOfNamespaces } from "../app/read-namespaces.ts";
import { idempotentCall } from "./idempotent-call.ts";
import { namespaceCursor, pageOf, parseLimit } from "./page.ts";
import { parsed, parseEnvironmentRef, parseNamespace } from "./parse.ts";
import { renderNamespace } from "./render.ts";

type NamespaceHandlers = Pick<
  Handlers<typeof CatalogService>,
  "createNamespace" | "listNamespaces" | "deleteNamespace"
>;

const render = (entry: NamespaceInEnvironment) => ({ namespace: renderNamespace(entry) });

export const namespaceHandlers = (deps: CatalogDeps): NamespaceHandlers => ({
  async createNamespace(request, context) {
    const input = parsed((faults) => ({
      environment: parseEnvironmentRef(faults, request.environment),
      path: parseNamespace(faults, "/path", request.path),
    }));
    const call = idempotentCall(context, CreateNamespaceResponseSchema, render);
    return createNamespace(deps, call, input);
  },

  async listNamespaces(request, context) {
    const page = parsed((faults) => ({
      environment: parseEnvironmentRef(faults, request.environment),
      limit: parseLimit(faults, request.limit),
      after: namespaceCursor.read(faults, request.cursor) ?? "",
    }));
    const rows = await pageOfNamespaces(deps, context, { ...page, limit: page.limit + 1 });
    const { items, nextCursor } = pageOf(rows, page.limit, ({ namespace }) =>
      namespaceCursor.write(namespace.path),
    );
    return { namespaces: items.map(renderNamespace), nextCursor };
  },

  async deleteNamespace(request, context) {
    const input = parsed((faults) => ({
      environment: parseEnvironmentRef(faults, request.environment),
      path: parseNamespace(faults, "/path", request.path),
    }));
    const call = idempotentCall(context, DeleteNamespaceResponseSchema, () => ({}));
    return deleteNamespace(deps, call, input);
  },
});
