import type { Handlers } from "@lapse/kit";
import {
  type CatalogService,
  CreateEnvironmentResponseSchema,
  DeleteEnvironmentResponseSchema,
  TouchEnvironmentResponseSchema,
  UpdateEnvironmentResponseSchema,
} from "@lapse/proto/catalog";
import { createEnvironment } from "../app/create-environment.ts";
import { deleteEnvironment } from "../app/delete-environment.ts";
import type { CatalogDeps } from "../app/deps.ts";
import type { EnvironmentWithRights } from "../app/effective-rights.ts";
import { protectEnvironment } from "../app/protect-environment.ts";
import { getEnvironment, pageOfEnvironments } from "../app/read-environments.ts";
import { touchEnvironment } from "../app/touch-environment.ts";
import { idempotentCall } from "./idempotent-call.ts";
import { environmentCursor, pageOf, parseLimit } from "./page.ts";
import { note, parsed, parseEnvironmentName, parseEnvironmentRef } from "./parse.ts";
import { renderEnvironment } from "./render.ts";

type EnvironmentHandlers = Pick<
  Handlers<typeof CatalogService>,
  | "createEnvironment"
  | "getEnvironment"
  | "listEnvironments"
  | "updateEnvironment"
  | "touchEnvironment"
  | "deleteEnvironment"
>;

const render = (environment: EnvironmentWithRights) => ({
  environment: renderEnvironment(environment),
});

export const environmentHandlers = (deps: CatalogDeps): EnvironmentHandlers => ({
  async createEnvironment(request, context) {
    const input = parsed((faults) => ({
      name: parseEnvironmentName(faults, "/name", request.name),
      protected: request.protected,
    }));
    const call = idempotentCall(context, CreateEnvironmentResponseSchema, render);
    return createEnvironment(deps, call, input);
  },

  async getEnvironment(request, context) {
    const ref = parsed((faults) => parseEnvironmentRef(faults, request.environment));
    return render(await getEnvironment(deps, context, ref));
  },

  async listEnvironments(request, context) {
    const page = parsed((faults) => ({
      limit: parseLimit(faults, request.limit),
      after: environmentCursor.read(faults, request.cursor),
    }));
    const rows = await pageOfEnvironments(deps, context, { ...page, limit: page.limit + 1 });
    const { items, nextCursor } = pageOf(rows, page.limit, environmentCursor.write);
    return { environments: items.map(renderEnvironment), nextCursor };
  },

  async updateEnvironment(request, context) {
    const input = parsed((faults) => {
      if (request.protected === undefined) note(faults, "/protected", "there is nothing to change");
      return {
        environment: parseEnvironmentRef(faults, request.environment),
        protected: request.protected ?? false,
      };
    });
    const call = idempotentCall(context, UpdateEnvironmentResponseSchema, render);
    return protectEnvironment(deps, call, input);
  },

  async deleteEnvironment(request, context) {
    const ref = parsed((faults) => parseEnvironmentRef(faults, request.environment));
    const call = idempotentCall(context, DeleteEnvironmentResponseSchema, () => ({}));
    return deleteEnvironment(deps, call, ref);
  },

  async touchEnvironment(request, context) {
    const ref = parsed((faults) => parseEnvironmentRef(faults, request.environment));
    const call = idempotentCall(context, TouchEnvironmentResponseSchema, render);
    return touchEnvironment(deps, call, ref);
  },
});
