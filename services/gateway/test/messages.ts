import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DecisionRecordSchema } from "@lapse/proto/audit";
import type {
  ApiKeySchema,
  EnvironmentSchema,
  TableAccessSchema,
  TableSchema,
} from "@lapse/proto/catalog";
import type { SweepHoldSchema, SweepSchema, TableExpirySchema } from "@lapse/proto/evaluator";
import { SweepStatus } from "@lapse/proto/evaluator";
import { DecisionOutcome, TableKind, TableState } from "@lapse/proto/events";

export const TABLE_ID = "0190f3a2-7c1e-7b1a-9d3e-5a2f4c6b8d10";
export const OTHER_ID = "0190f3a2-7c1e-7b1a-9d3e-5a2f4c6b8d11";
export const ENVIRONMENT_ID = "0190f3a2-0000-7000-8000-000000000001";

export const at = (text: string) => timestampFromDate(new Date(text));

export const aTable = (
  over: Omit<MessageInitShape<typeof TableSchema>, "$typeName"> = {},
): Omit<MessageInitShape<typeof TableSchema>, "$typeName"> => ({
  tableId: TABLE_ID,
  tenant: "local",
  environmentId: ENVIRONMENT_ID,
  environment: "dev",
  namespace: "bronze",
  name: "trial",
  kind: TableKind.MANAGED,
  state: TableState.LIVE,
  owner: "ana@example.org",
  description: "a trial",
  columns: [{ name: "id", type: "BIGINT", required: true }],
  location: "file:///data/local--dev/dev/1",
  changeVersion: 7n,
  retentionVersion: 5n,
  environmentPolicyVersion: 3n,
  createdAt: at("2026-11-01T00:00:00.000Z"),
  lastChangedAt: at("2026-11-20T10:00:00.123Z"),
  rowCount: 100n,
  byteSize: 2048n,
  fileCount: 1,
  rights: ["table.read"],
  ...over,
});

export const anEnvironment = (
  over: Omit<MessageInitShape<typeof EnvironmentSchema>, "$typeName"> = {},
): Omit<MessageInitShape<typeof EnvironmentSchema>, "$typeName"> => ({
  environmentId: ENVIRONMENT_ID,
  tenant: "local",
  name: "dev",
  tableBucket: "local--dev",
  rights: ["table.read"],
  createdBy: "ana@example.org",
  createdAt: at("2026-11-01T00:00:00.000Z"),
  ...over,
});

export const anExpiry = (
  over: Omit<MessageInitShape<typeof TableExpirySchema>, "$typeName"> = {},
): Omit<MessageInitShape<typeof TableExpirySchema>, "$typeName"> => ({
  tableId: TABLE_ID,
  source: "table",
  rule: { rule: { case: "days", value: 30 } },
  setBy: "ana@example.org",
  setAt: at("2026-11-20T10:00:00.123Z"),
  lastActivityAt: at("2026-11-21T10:00:00.000Z"),
  lastActivityKind: "read",
  expiresAt: at("2026-12-21T10:00:00.000Z"),
  expiresSoon: false,
  environmentId: ENVIRONMENT_ID,
  namespace: "bronze",
  name: "trial",
  ...over,
});

export const aSweep = (
  over: Omit<MessageInitShape<typeof SweepSchema>, "$typeName"> = {},
): Omit<MessageInitShape<typeof SweepSchema>, "$typeName"> => ({
  sweepId: OTHER_ID,
  status: SweepStatus.COMPLETED,
  requestedBy: "ana@example.org",
  startedAt: at("2026-11-30T12:00:00.000Z"),
  finishedAt: at("2026-11-30T12:00:01.000Z"),
  fence: [{ stream: "ACTIVITY", sequence: 12n }],
  due: 3,
  dropped: 2,
  kept: { held: 1 },
  heldEnvironments: ["scratch"],
  ...over,
});

export const aHold = (
  over: Omit<MessageInitShape<typeof SweepHoldSchema>, "$typeName"> = {},
): Omit<MessageInitShape<typeof SweepHoldSchema>, "$typeName"> => ({
  holdId: OTHER_ID,
  kind: "breaker",
  environmentId: ENVIRONMENT_ID,
  environment: "dev",
  raisedAt: at("2026-11-30T12:00:00.000Z"),
  due: 15,
  tables: 20,
  share: 0.5,
  ...over,
});

export const anAccess = (
  over: Omit<MessageInitShape<typeof TableAccessSchema>, "$typeName"> = {},
): Omit<MessageInitShape<typeof TableAccessSchema>, "$typeName"> => ({
  tableId: TABLE_ID,
  owner: "ana@example.org",
  applies: true,
  ...over,
});

export const aKey = (
  over: Omit<MessageInitShape<typeof ApiKeySchema>, "$typeName"> = {},
): Omit<MessageInitShape<typeof ApiKeySchema>, "$typeName"> => ({
  keyId: OTHER_ID,
  name: "nightly load",
  subject: `key:${OTHER_ID}`,
  roles: ["writer"],
  createdBy: "ana@example.org",
  createdAt: at("2026-11-30T12:00:00.000Z"),
  expiresAt: at("2027-02-28T12:00:00.000Z"),
  ...over,
});

export const aRecord = (
  seq: bigint,
): Omit<MessageInitShape<typeof DecisionRecordSchema>, "$typeName"> => ({
  seq,
  hash: "ab".repeat(32),
  recordedAt: at("2026-11-30T12:00:00.500Z"),
  decision: {
    id: OTHER_ID,
    at: at("2026-11-30T12:00:00.000Z"),
    type: "TABLE_DROPPED",
    service: "catalog",
    tenant: "local",
    resource: { kind: "table", id: TABLE_ID, name: "bronze.trial", environment: "dev" },
    outcome: DecisionOutcome.DONE,
    reason: "retention",
    details: { days: 30, nested: { a: [1, null, "x"] } },
    runId: "sweep-1",
  },
});
