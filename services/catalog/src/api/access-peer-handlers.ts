import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type CallContext,
  type Handlers,
  invalid,
  type PrincipalKind,
  recordRefusal,
  requireService,
} from "@lapse/kit";
import type { AccessService, RecordRefusalRequest } from "@lapse/proto/catalog";
import { PrincipalKind as Kind } from "@lapse/proto/common";
import type { CatalogDeps } from "../app/deps.ts";
import { getReadableTables } from "../app/get-readable-tables.ts";
import { getTenantRights } from "../app/get-tenant-rights.ts";
import { verifyApiKey } from "../app/verify-api-key.ts";
import { SERVICE } from "../service-name.ts";
import { type Faults, note, parsed, parseId } from "./parse.ts";

type PeerHandlers = Pick<
  Handlers<typeof AccessService>,
  "authenticateApiKey" | "getReadableTables" | "getTenantRights" | "recordRefusal"
>;

const KINDS: Readonly<Record<PrincipalKind, Kind>> = {
  person: Kind.PERSON,
  service: Kind.SERVICE,
  key: Kind.KEY,
};

/** What other services ask; nobody else is answered. */
export function accessPeerHandlers(deps: CatalogDeps): PeerHandlers {
  const verify = verifyApiKey(deps.pool);
  return {
    async authenticateApiKey({ token }, context) {
      await requireService(deps.pool, SERVICE, context);
      const { principal, expiresAt } = await verify(token);
      return {
        principal: { ...principal, roles: [...principal.roles], kind: KINDS[principal.kind] },
        expiresAt: timestampFromDate(new Date(expiresAt)),
      };
    },

    async getReadableTables(request, context) {
      await requireService(deps.pool, SERVICE, context);
      const environmentId = parsed((faults) =>
        parseId(faults, "/environment_id", request.environmentId),
      );
      const { all, tableIds } = await getReadableTables(deps, context, environmentId);
      return { all, tableIds: [...tableIds] };
    },

    async getTenantRights(_request, context) {
      await requireService(deps.pool, SERVICE, context);
      return { rights: [...(await getTenantRights(deps, context))] };
    },

    async recordRefusal(request, context) {
      await requireService(deps.pool, SERVICE, context);
      requirePerson(context);
      const { right, method, ...resource } = parsed((faults) => parseRefusal(faults, request));
      await recordRefusal(deps.pool, {
        service: SERVICE,
        resource,
        principal: context.principal,
        right,
        method,
        traceparent: context.traceparent,
        details: { refused_by: context.caller.subject },
      });
      return {};
    },
  };
}

/** What a service refuses, it refuses somebody. */
function requirePerson({ principal }: CallContext): void {
  if (principal.kind !== "service") return;
  throw invalid(
    "ON_BEHALF_OF_REQUIRED",
    "a refusal is recorded on behalf of whom it was refused to",
  );
}

const MAX_TEXT = 512;

function parseRefusal(faults: Faults, request: RecordRefusalRequest) {
  const text = (field: string, value: string, { required = false } = {}) => {
    if (required && value === "") note(faults, `/${field}`, "is required");
    if (value.length > MAX_TEXT || value.includes("\0")) {
      note(faults, `/${field}`, `at most ${MAX_TEXT} characters, without NUL`);
    }
    return value;
  };
  return {
    right: text("right", request.right, { required: true }),
    kind: text("resource_kind", request.resourceKind, { required: true }),
    id: text("resource_id", request.resourceId),
    name: text("resource_name", request.resourceName),
    environment: text("resource_environment", request.resourceEnvironment),
    method: text("method", request.method),
  };
}
