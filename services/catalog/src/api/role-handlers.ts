import type { Handlers } from "@lapse/kit";
import {
  type AccessService,
  type GrantRoleRequest,
  GrantRoleResponseSchema,
  type RevokeRoleRequest,
  RevokeRoleResponseSchema,
} from "@lapse/proto/catalog";
import { grantRole, type RoleRequest, revokeRole } from "../app/change-role.ts";
import type { CatalogDeps } from "../app/deps.ts";
import { pageOfRoles } from "../app/list-roles.ts";
import type { NamedBinding } from "../store/roles.ts";
import { idempotentCall } from "./idempotent-call.ts";
import { bindingCursor, pageOf, parseLimit } from "./page.ts";
import { type Faults, parsed, parseEnvironmentRef } from "./parse.ts";
import { parseRole, parseSubject } from "./parse-access.ts";
import { renderBinding } from "./render-access.ts";

type RoleHandlers = Pick<Handlers<typeof AccessService>, "grantRole" | "revokeRole" | "listRoles">;

/** Roles in a tenant or an environment. */
export const roleHandlers = (deps: CatalogDeps): RoleHandlers => ({
  async grantRole(request, context) {
    const input = parsed((faults) => parseRoleRequest(faults, request));
    const call = idempotentCall(context, GrantRoleResponseSchema, (binding: NamedBinding) => ({
      grant: renderBinding(binding),
    }));
    return grantRole(deps, call, input);
  },

  async revokeRole(request, context) {
    const input = parsed((faults) => parseRoleRequest(faults, request));
    return revokeRole(
      deps,
      idempotentCall(context, RevokeRoleResponseSchema, () => ({})),
      input,
    );
  },

  async listRoles(request, context) {
    const page = parsed((faults) => ({
      environment: request.environment && parseEnvironmentRef(faults, request.environment),
      subject: request.subject === "" ? undefined : parseSubject(faults, request.subject),
      limit: parseLimit(faults, request.limit),
      after: bindingCursor.read(faults, request.cursor),
    }));
    const rows = await pageOfRoles(deps, context, { ...page, limit: page.limit + 1 });
    const { items, nextCursor } = pageOf(rows, page.limit, bindingCursor.write);
    return { grants: items.map(renderBinding), nextCursor };
  },
});

const parseRoleRequest = (
  faults: Faults,
  { subject, role, environment }: GrantRoleRequest | RevokeRoleRequest,
): RoleRequest => ({
  subject: parseSubject(faults, subject),
  role: parseRole(faults, "/role", role),
  environment: environment && parseEnvironmentRef(faults, environment),
});
