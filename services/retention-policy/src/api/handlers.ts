import { ANY_TENANT, type CallContext, type Handlers } from "@lapse/kit";
import type { RetentionPolicyService } from "@lapse/proto/policy";
import { denyCall } from "../app/deny-call.ts";
import {
  batchGetEnvironmentRetentions,
  getEnvironmentRetention,
} from "../app/get-environment-retentions.ts";
import { getTableRetention } from "../app/get-table-retention.ts";
import { setEnvironmentRetention } from "../app/set-environment-retention.ts";
import { setTableRetention } from "../app/set-table-retention.ts";
import { settleEnvironmentRetention } from "../app/settle-environment-retention.ts";
import { settleTableRetention } from "../app/settle-table-retention.ts";
import type { PolicyDeps } from "../deps.ts";
import { toEnvironmentRetentionMessage, toTableRetentionMessage } from "../messages/retention.ts";
import { toRetentionFields } from "../messages/rule.ts";
import { parseId, parseIds, parseVersion } from "./request.ts";

/** The methods of RetentionPolicyService: each parses, calls its use case and renders. */
export function policyHandlers(deps: PolicyDeps): Handlers<typeof RetentionPolicyService> {
  return {
    setTableRetention: ({ tableId, rule }, call) =>
      setTableRetention(
        deps,
        { tableId: parseId("table_id", tableId), fields: toRetentionFields(rule) },
        call,
      ),

    async getTableRetention({ tableId }, call) {
      const found = await getTableRetention(deps, parseId("table_id", tableId), call);
      const table = found.table && toTableRetentionMessage(found.table);
      const environment = found.environment && toEnvironmentRetentionMessage(found.environment);
      return { ...(table && { table }), ...(environment && { environment }) };
    },

    setEnvironmentRetention: ({ environmentId, days }, call) =>
      setEnvironmentRetention(
        deps,
        { environmentId: parseId("environment_id", environmentId), days: days ?? null },
        call,
      ),

    async getEnvironmentRetention({ environmentId }, call) {
      const id = parseId("environment_id", environmentId);
      const found = await getEnvironmentRetention(deps, id, call);
      const retention = found && toEnvironmentRetentionMessage(found);
      return retention ? { retention } : {};
    },

    async batchGetEnvironmentRetentions({ environmentIds }, call) {
      const ids = parseIds("environment_ids", environmentIds);
      const found = await batchGetEnvironmentRetentions(deps, ids, call);
      return { retentions: found.flatMap((one) => toEnvironmentRetentionMessage(one) ?? []) };
    },

    async settleTableRetention(request, call) {
      const tableId = parseId("table_id", request.tableId);
      const environmentId = parseId("environment_id", request.environmentId);
      const version = parseVersion("retention_version", request.retentionVersion);
      await requireService(deps, call, { kind: "table", id: tableId });
      await settleTableRetention(deps, { tableId, environmentId, tenant: request.tenant }, version);
      return {};
    },

    async settleEnvironmentRetention(request, call) {
      const environmentId = parseId("environment_id", request.environmentId);
      const version = parseVersion("policy_version", request.policyVersion);
      await requireService(deps, call, { kind: "environment", id: environmentId });
      await settleEnvironmentRetention(deps, { environmentId, tenant: request.tenant }, version);
      return {};
    },
  };
}

/** Settling is between services. @throws denied `RIGHT_MISSING`, recorded */
async function requireService(
  deps: PolicyDeps,
  call: CallContext,
  { kind, id }: { kind: string; id: string },
): Promise<void> {
  const { principal } = call;
  if (principal.tenant === ANY_TENANT) {
    return;
  }
  await denyCall(deps, call, {
    right: "service",
    tenant: principal.tenant,
    resource: { kind, id, name: "", environment: "" },
    message: "only the services of Lapse settle a retention",
  });
}
