import { randomBytes } from "node:crypto";
import { type CallOptions, createGrpcClient, createLogger, LapseError } from "@lapse/kit";
import { AuditService } from "@lapse/proto/audit";
import { AccessService, CatalogService } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { RetentionPolicyService } from "@lapse/proto/policy";
import type { SubjectName } from "./access-subjects.ts";
import type { System } from "./system.ts";

/** The services by gRPC, as the holder of one token. */
export function grpcClients({ ports }: System, serviceToken: string) {
  const log = createLogger({ service: "test", level: "silent" });
  const at = (name: keyof System["ports"]["grpc"]) => ({
    url: `http://127.0.0.1:${ports.grpc[name]}`,
    serviceToken,
    log,
  });
  const clients = {
    catalog: createGrpcClient(CatalogService, at("catalog")),
    access: createGrpcClient(AccessService, at("catalog")),
    outbox: createGrpcClient(OutboxService, at("catalog")),
    policy: createGrpcClient(RetentionPolicyService, at("retention-policy")),
    evaluator: createGrpcClient(LifecycleEvaluatorService, at("lifecycle-evaluator")),
    audit: createGrpcClient(AuditService, at("audit")),
  };
  return {
    ...clients,
    close() {
      for (const client of Object.values(clients)) client.close();
    },
  };
}
export type GrpcClients = ReturnType<typeof grpcClients>;

/** What the calls are about. */
interface GrpcTarget {
  readonly tableId: string;
  readonly environmentId: string;
}
type Call = (to: GrpcClients, target: GrpcTarget, options: CallOptions) => Promise<unknown>;

const byId = (tableId: string) =>
  ({ table: { ref: { case: "tableId", value: tableId } } }) as const;
const FOR_SERVICES = "denied SERVICE_REQUIRED";
const DENIED = "denied RIGHT_MISSING";
const ALIEN = "not_found TABLE_NOT_FOUND";
const EXPIRED = "unauthenticated KEY_EXPIRED";
const REVOKED = "unauthenticated KEY_REVOKED";

/** Calls by gRPC, and how each is answered: `ok`, or the kind and reason of the refusal. */
export const GRPC_CALLS: Readonly<
  Record<string, readonly [call: Call, answers: Readonly<Partial<Record<SubjectName, string>>>]>
> = {
  "CatalogService/GetTable": [
    ({ catalog }, { tableId }, options) => catalog.getTable(byId(tableId), options),
    {
      owner: "ok",
      reader: "ok",
      key: "ok",
      "g-read": "ok",
      "e-writer": "ok",
      elsewhere: DENIED,
      nobody: DENIED,
      stranger: ALIEN,
      expired: EXPIRED,
      revoked: REVOKED,
    },
  ],
  "CatalogService/DropTable": [
    ({ catalog }, { tableId }, options) => catalog.dropTable(byId(tableId), options),
    { reader: DENIED, writer: DENIED, key: DENIED, "g-write": DENIED, stranger: ALIEN },
  ],
  "CatalogService/TouchTable": [
    ({ catalog }, { tableId }, options) => catalog.touchTable(byId(tableId), options),
    { reader: DENIED, "g-read": DENIED, nobody: DENIED, stranger: ALIEN },
  ],
  "RetentionPolicyService/SetTableRetention": [
    ({ policy }, { tableId }, options) =>
      policy.setTableRetention({ tableId, rule: { rule: { case: "days", value: 3 } } }, options),
    { writer: DENIED, "g-write": DENIED, "e-writer": DENIED, stranger: ALIEN, revoked: REVOKED },
  ],
  "RetentionPolicyService/SetEnvironmentRetention": [
    ({ policy }, { environmentId }, options) =>
      policy.setEnvironmentRetention({ environmentId, days: 1 }, options),
    {
      owner: DENIED,
      engineer: DENIED,
      elsewhere: DENIED,
      stranger: "not_found ENVIRONMENT_NOT_FOUND",
    },
  ],
  "RetentionPolicyService/SettleTableRetention": [
    ({ policy }, { tableId, environmentId }, options) =>
      policy.settleTableRetention(
        { tableId, environmentId, tenant: "local", retentionVersion: 99n },
        options,
      ),
    { owner: DENIED, super: DENIED },
  ],
  "LifecycleEvaluatorService/GetTableExpiry": [
    ({ evaluator }, { tableId }, options) =>
      evaluator.getTableExpiry({ tableId, consistent: true }, options),
    { reader: "ok", "g-read": "ok", "e-writer": "ok", nobody: DENIED, stranger: ALIEN },
  ],
  "LifecycleEvaluatorService/RunSweep": [
    ({ evaluator }, _target, options) => evaluator.runSweep({}, options),
    { owner: DENIED, engineer: DENIED, "e-admin": DENIED, expired: EXPIRED },
  ],
  "LifecycleEvaluatorService/ConfirmTablesDue": [
    ({ evaluator }, { tableId }, options) =>
      evaluator.confirmTablesDue({ tableIds: [tableId] }, options),
    { super: FOR_SERVICES },
  ],
  "AuditService/ListDecisions": [
    ({ audit }, _target, options) => audit.listDecisions({ limit: 1 }, options),
    { admin: "ok", engineer: DENIED, "e-admin": DENIED, expired: EXPIRED },
  ],
  "AccessService/AuthenticateApiKey": [
    ({ access }, _target, options) => access.authenticateApiKey({ token: "lapse_x" }, options),
    { super: FOR_SERVICES },
  ],
  "AccessService/GetReadableTables": [
    ({ access }, { environmentId }, options) =>
      access.getReadableTables({ environmentId }, options),
    { super: FOR_SERVICES },
  ],
  "AccessService/GetTenantRights": [
    ({ access }, _target, options) => access.getTenantRights({}, options),
    { super: FOR_SERVICES },
  ],
  "AccessService/RecordRefusal": [
    ({ access }, { tableId }, options) =>
      access.recordRefusal(
        { right: "table.read", resourceKind: "table", resourceId: tableId },
        options,
      ),
    { super: FOR_SERVICES },
  ],
  "OutboxService/GetOutboxHead": [
    ({ outbox }, _target, options) => outbox.getOutboxHead({}, options),
    { super: FOR_SERVICES },
  ],
};

/** Makes a call and says how it was answered. */
export async function outcomeByGrpc(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return "ok";
  } catch (error) {
    if (error instanceof LapseError) return `${error.kind} ${error.reason}`;
    throw error;
  }
}

/** A trace to find the decisions of one call by. */
export function newTrace(): { readonly traceId: string; readonly traceparent: string } {
  const traceId = randomBytes(16).toString("hex");
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-01` };
}
