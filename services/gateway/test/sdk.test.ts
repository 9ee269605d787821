import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { notFound } from "@lapse/kit";
import { TableState } from "@lapse/proto/events";
import type * as sdk from "@lapse/sdk";
import { createClient, type LapseClient } from "@lapse/sdk";
import type { RoleGrantJson, TableAccessJson } from "../src/api/schemas/access.ts";
import type { ActivityEventJson } from "../src/api/schemas/activity.ts";
import type { ApiKeyJson, CreatedApiKeyJson } from "../src/api/schemas/api-key.ts";
import type { ChainVerificationJson, DecisionRecordJson } from "../src/api/schemas/audit.ts";
import type { EnvironmentJson, EnvironmentRetentionJson } from "../src/api/schemas/environment.ts";
import type { NamespaceJson } from "../src/api/schemas/namespace.ts";
import type { ParkedMessageJson, SystemStatusJson } from "../src/api/schemas/operations.ts";
import type { ProjectJson } from "../src/api/schemas/project.ts";
import type {
  ExpiringTableJson,
  RetentionJson,
  RetentionSetJson,
  SweepCandidateJson,
} from "../src/api/schemas/retention.ts";
import type {
  SweepHoldJson,
  SweepJson,
  SweepRunJson,
  SweepWithOutcomesJson,
} from "../src/api/schemas/sweep.ts";
import type { CommittedTableJson, TableJson } from "../src/api/schemas/table.ts";
import type { HoldJson, TableFilesJson, TableReadsJson } from "../src/api/schemas/table-data.ts";
import { type Harness, listening, startHarness } from "./harness.ts";
import {
  aHold,
  aKey,
  anAccess,
  anEnvironment,
  anExpiry,
  aRecord,
  aSweep,
  aTable,
  at,
  ENVIRONMENT_ID,
  OTHER_ID,
  TABLE_ID,
} from "./messages.ts";

/** Compiles only where what the gateway gives is what the SDK promises, but for instants, which it reads. */
type Agrees<Promised, Given> = Sent<Given> extends Written<Promised> ? true : false;
/** JSON leaves out what is undefined. */
type Sent<T> = T extends object ? { [K in keyof T]: Sent<Exclude<T[K], undefined>> } : T;
/** As it is written in JSON. */
type Written<T> = T extends Date
  ? string
  : T extends object
    ? { [K in keyof T]: Written<T[K]> }
    : T;
const compiles = <_Pairs extends readonly true[]>(): void => undefined;
compiles<
  [
    Agrees<sdk.Environment, EnvironmentJson>,
    Agrees<sdk.EnvironmentRetention, EnvironmentRetentionJson>,
    Agrees<sdk.Namespace, NamespaceJson>,
    Agrees<sdk.Project, ProjectJson>,
    Agrees<sdk.Table, TableJson>,
    Agrees<sdk.CommittedTable, CommittedTableJson>,
    Agrees<sdk.Retention, RetentionJson>,
    Agrees<sdk.Retention, RetentionSetJson>,
    Agrees<sdk.ExpiringTable, ExpiringTableJson>,
    Agrees<sdk.SweepCandidate, SweepCandidateJson>,
    Agrees<sdk.TableFiles, TableFilesJson>,
    Agrees<sdk.TableReads, TableReadsJson>,
    Agrees<sdk.Hold, HoldJson>,
    Agrees<sdk.TableAccess, TableAccessJson>,
    Agrees<sdk.RoleGrant, RoleGrantJson>,
    Agrees<sdk.ApiKey, ApiKeyJson>,
    Agrees<sdk.CreatedApiKey, CreatedApiKeyJson>,
    Agrees<sdk.Sweep, SweepJson>,
    Agrees<sdk.Sweep, SweepWithOutcomesJson>,
    Agrees<sdk.SweepRun, SweepRunJson>,
    Agrees<sdk.SweepHold, SweepHoldJson>,
    Agrees<sdk.DecisionRecord, DecisionRecordJson>,
    Agrees<sdk.ChainVerification, ChainVerificationJson>,
    Agrees<sdk.SystemStatus, SystemStatusJson>,
    Agrees<sdk.ParkedMessage, ParkedMessageJson>,
    Agrees<sdk.Activity["kind"], ActivityEventJson["kind"]>,
  ]
>();

let harness: Harness;
let client: LapseClient;
beforeAll(async () => {
  harness = await startHarness();
  client = createClient({ url: await listening(harness), token: "root", attempts: 1 });
});
beforeEach(() => {
  harness.reset();
  const { fakes } = harness;
  const hold = {
    holdId: OTHER_ID,
    tableId: TABLE_ID,
    kind: "write",
    createdAt: at("2026-11-30T12:00:00Z"),
    expiresAt: at("2026-11-30T13:00:00Z"),
  };
  const made = { createdBy: "ana", createdAt: at("2026-11-30T12:00:00Z") };
  const namespace = { environment: "dev", path: "bronze", ...made };
  const project = {
    name: "shop",
    environment: "dev",
    version: "1.4.0",
    assets: ["gold.orders"],
    deployedBy: "ana",
    deployedAt: at("2026-11-30T12:00:00Z"),
  };
  const grant = {
    subject: "rita",
    role: "writer",
    environment: "dev",
    grantedBy: "ana",
    grantedAt: at("2026-11-30T12:00:00Z"),
  };
  fakes.catalog = {
    createEnvironment: () => ({ environment: anEnvironment() }),
    getEnvironment: () => ({ environment: anEnvironment() }),
    listEnvironments: ({ cursor }) => ({
      environments: [anEnvironment({ name: cursor === "" ? "dev" : "prod" })],
      nextCursor: cursor === "" ? "second" : "",
    }),
    updateEnvironment: () => ({ environment: anEnvironment({ protected: true }) }),
    createTable: () => ({ table: aTable({ state: TableState.STAGED }) }),
    getTable: () => ({ table: aTable() }),
    batchGetTables: ({ tables }) => ({
      tables: tables.map((_ref, index) => ({ index, table: aTable() })),
    }),
    listTables: ({ namespace }) => ({ tables: [aTable({ namespace: namespace || "all" })] }),
    listDroppedTables: () => ({ tables: [aTable()] }),
    updateTable: () => ({ table: aTable() }),
    dropTable: () => ({ table: aTable() }),
    undropTable: () => ({ table: aTable() }),
    commitTable: () => ({ table: aTable(), snapshotId: OTHER_ID }),
    listTableFiles: () => ({ table: aTable() }),
    createHold: () => ({ hold }),
    renewHold: () => ({ hold }),
    releaseHold: () => ({}),
    listHolds: () => ({ holds: [hold] }),
    deleteEnvironment: () => ({}),
    createNamespace: ({ path }) => ({ namespace: { ...namespace, path } }),
    listNamespaces: () => ({ namespaces: [namespace] }),
    deleteNamespace: () => ({}),
    deployProject: ({ project: name, version, assets }) => ({
      project: { ...project, name, version, assets },
    }),
    undeployProject: () => ({}),
    listProjects: () => ({ projects: [project] }),
    confirmPurgeClock: () => ({}),
    getPurgeStatus: () => ({}),
  };
  fakes.access = {
    getTableAccess: () => ({ access: anAccess() }),
    grantTable: () => ({ access: anAccess() }),
    revokeTable: () => ({ access: anAccess() }),
    setRowFilter: () => ({ access: anAccess() }),
    removeRowFilter: () => ({ access: anAccess() }),
    setColumnMask: () => ({ access: anAccess() }),
    removeColumnMask: () => ({ access: anAccess() }),
    grantRole: ({ subject, role }) => ({ grant: { ...grant, subject, role } }),
    revokeRole: () => ({}),
    listRoles: () => ({ grants: [grant] }),
    createApiKey: ({ name }) => ({ key: aKey({ name }), token: "lapse_secret" }),
    listApiKeys: () => ({ keys: [aKey()] }),
    revokeApiKey: () => ({ key: aKey() }),
  };
  fakes.policy = {
    batchGetEnvironmentRetentions: () => ({}),
    getEnvironmentRetention: () => ({}),
    setEnvironmentRetention: ({ days }) => ({
      retention: { environmentId: ENVIRONMENT_ID, ...(days !== undefined && { days }) },
    }),
    setTableRetention: ({ tableId, rule }) => ({ retention: { tableId, ...(rule && { rule }) } }),
  };
  fakes.evaluator = {
    batchGetTableExpiry: () => ({ expiries: [anExpiry()] }),
    getTableExpiry: () => ({ expiry: anExpiry() }),
    listExpiringTables: () => ({ tables: [anExpiry()] }),
    getTableReads: () => ({}),
    runSweep: () => ({ sweep: aSweep() }),
    getSweep: () => ({ sweep: aSweep() }),
    listSweeps: () => ({ sweeps: [aSweep()] }),
    pauseSweeps: () => ({}),
    resumeSweeps: () => ({}),
    getEvaluatorStatus: () => ({}),
    listSweepHolds: () => ({ holds: [aHold()] }),
    confirmSweepHold: () => ({ hold: aHold({ confirmedBy: "root@example.org" }) }),
  };
  fakes.audit = {
    listDecisions: () => ({ records: [aRecord(1n)] }),
    verifyChain: () => ({ ok: true }),
    watchDecisions: async function* () {
      yield { record: aRecord(7n) };
    },
  };
  fakes.outbox = { getOutboxHead: () => ({}) };
});
afterAll(() => harness.stop());

const NAME = "bronze.trial";
const PAGE = { limit: 5, cursor: "c" };

test("the SDK gets what it asks for by every call on environments, namespaces and projects", async () => {
  const { environments, namespaces, projects } = client;
  expect(await environments.create("dev", { protected: true })).toMatchObject({ name: "dev" });
  expect(await environments.get("dev")).toMatchObject({
    name: "dev",
    created_at: new Date("2026-11-01T00:00:00Z"),
  });
  expect(await environments.protect("dev")).toMatchObject({ protected: true });
  expect(await environments.unprotect("dev")).toMatchObject({ name: "dev" });
  expect(await environments.retention("dev")).toMatchObject({ days: null });
  expect(await environments.setRetention("dev", 30)).toMatchObject({ days: 30 });
  expect(await environments.setRetention("dev", null)).toMatchObject({ days: null });
  expect(await environments.delete("dev")).toBeUndefined();

  expect(await namespaces.create("dev", "bronze.raw")).toMatchObject({ path: "bronze.raw" });
  expect((await namespaces.list("dev").page()).items).toMatchObject([{ path: "bronze" }]);
  expect(await namespaces.delete("dev", "bronze")).toBeUndefined();

  const deployment = { version: "1.5.0", assets: ["gold.orders"] };
  expect(await projects.deploy("dev", "shop", deployment)).toMatchObject(deployment);
  expect((await projects.list("dev").page()).items).toMatchObject([{ version: "1.4.0" }]);
  expect(await projects.undeploy("dev", "shop")).toBeUndefined();
});

test("the SDK gets what it asks for by every call on tables", async () => {
  const { tables } = client;
  const id = TABLE_ID;
  const columns = [{ name: "id", type: "BIGINT" }];
  const created = { kind: "managed", columns, description: "", expireAfterDays: 3 } as const;
  expect(await tables.create("dev", NAME, created)).toMatchObject({ state: "live" });
  expect(await tables.create("dev", NAME, { staged: true })).toMatchObject({ state: "staged" });
  expect(await tables.get("dev", NAME)).toMatchObject({ id });
  expect((await tables.list("dev").page(PAGE)).items).toMatchObject([{ namespace: "all" }]);
  expect((await tables.list("dev", { namespace: "silver" }).page()).items).toMatchObject([
    { namespace: "silver" },
  ]);
  expect(await tables.update("dev", NAME, { description: "new" })).toMatchObject({ id });
  expect(await tables.rename("dev", NAME, "silver.trial")).toMatchObject({ id });
  expect(await tables.drop("dev", NAME)).toMatchObject({ id });
  expect(await tables.undrop("dev", NAME, { id, as: "back" })).toMatchObject({ id });
  expect(await tables.undrop("dev", NAME)).toMatchObject({ id });
  expect(await tables.undropById("dev", id)).toMatchObject({ id });
  expect((await tables.dropped("dev").page(PAGE)).items).toHaveLength(1);
  expect((await tables.dropped("dev", { name: NAME }).page()).items).toHaveLength(1);
  expect(await tables.retention("dev", NAME)).toMatchObject({ days: 30 });
  expect(await tables.setRetention("dev", NAME, { on: "2027-01-01" })).toMatchObject({
    on: "2027-01-01",
  });
  expect(await tables.byId(id).setRetention({ never: true })).toMatchObject({ never: true });
  expect((await tables.expiring("dev", { withinDays: 7 }).page(PAGE)).items).toHaveLength(1);
  expect(await tables.files("dev", NAME)).toMatchObject({ snapshot_id: null, files: [] });
  expect(await tables.files("dev", NAME, { appliesPolicies: true })).toMatchObject({ files: [] });
  expect(await tables.reads("dev", NAME)).toEqual({ days: [], sources: [] });
  const file = { path: "data/a.parquet", byte_size: 1, row_count: 1 };
  const commit = { operation: "append", files: [file], columns, hold_id: OTHER_ID } as const;
  expect(await tables.commit("dev", NAME, commit)).toMatchObject({ snapshot_id: OTHER_ID });
  expect(await tables.byId(id).commit(commit)).toMatchObject({ snapshot_id: OTHER_ID });
  expect(await tables.holds.create("dev", NAME)).toMatchObject({ id: OTHER_ID });
  expect(await tables.holds.createById(id, "pipeline_task")).toMatchObject({ id: OTHER_ID });
  expect(await tables.holds.renew(OTHER_ID)).toMatchObject({ id: OTHER_ID });
  expect((await tables.holds.list("dev", NAME).page()).items).toMatchObject([{ id: OTHER_ID }]);
  expect(await tables.holds.release(OTHER_ID)).toBeUndefined();
});

test("the SDK gets what it asks for by every call on access", async () => {
  const { roles, apiKeys } = client;
  const { access } = client.tables;
  const all = { table_id: TABLE_ID };
  const grant = { subject: "rita@example.org", right: "read" } as const;
  const filter = {
    column: "id",
    operator: "in",
    values: ["1"],
    applies_to: "role:reader",
  } as const;
  expect(await access.get("dev", NAME)).toMatchObject(all);
  expect(await access.grant("dev", NAME, grant)).toMatchObject(all);
  expect(await access.revoke("dev", NAME, grant)).toMatchObject(all);
  expect(await access.setFilter("dev", NAME, "eu only", filter)).toMatchObject(all);
  expect(await access.removeFilter("dev", NAME, "eu only")).toMatchObject(all);
  expect(await access.setMask("dev", NAME, "id", { mask: "hash" })).toMatchObject(all);
  expect(
    await access.setMask("dev", NAME, "id", { mask: "last", applies_to: "role:reader" }),
  ).toMatchObject(all);
  expect(await access.removeMask("dev", NAME, "id", { applies_to: "role:reader" })).toMatchObject(
    all,
  );

  const held = { subject: "rita@example.org", role: "writer", environment: "dev" } as const;
  expect(await roles.grant(held)).toMatchObject(held);
  expect((await roles.list({ environment: "dev" }).page(PAGE)).items).toHaveLength(1);
  expect(await roles.revoke(held)).toBeUndefined();

  const wanted = { name: "ci", roles: ["reader"], expiresInDays: 30 } as const;
  expect(await apiKeys.create(wanted)).toMatchObject({ name: "ci", token: "lapse_secret" });
  expect((await apiKeys.list().page()).items).toHaveLength(1);
  expect(await apiKeys.revoke(OTHER_ID)).toMatchObject({ created_at: expect.any(Date) });
});

test("the SDK gets what it asks for by every call on sweeps, decisions and operations", async () => {
  const { sweeps, audit, activity, parked } = client;
  expect(await sweeps.run({ waitSeconds: 1 })).toMatchObject({ would_drop: null });
  expect(await sweeps.run({ dryRun: true })).toMatchObject({ would_drop: [], held: [] });
  expect((await sweeps.list().page(PAGE)).items).toHaveLength(1);
  expect(await sweeps.get(OTHER_ID)).toMatchObject({ outcomes: [] });
  expect(await sweeps.pause("why")).toBeUndefined();
  expect(await sweeps.resume()).toBeUndefined();
  expect((await sweeps.holds().page()).items).toMatchObject([{ kind: "breaker", due: 15 }]);
  expect((await sweeps.holds({ all: true }).page(PAGE)).items).toHaveLength(1);
  expect(await sweeps.confirm({ hold_id: OTHER_ID })).toMatchObject({
    holds: [{ confirmed_by: "root@example.org" }],
  });

  const filter = {
    type: "T",
    resource: "r",
    actor: "a",
    since: new Date("2026-01-01T00:00:00Z"),
    run_id: "s",
  };
  expect((await audit.list(filter).page(PAGE)).items).toMatchObject([{ seq: 1 }]);
  expect(await audit.verify()).toMatchObject({ ok: true });
  const use = { kind: "read", environment: "dev", table: NAME, source: "cli" } as const;
  expect(await activity.report(use)).toEqual({ accepted: 1 });
  const written = { kind: "written", table_id: TABLE_ID, occurred_at: new Date() } as const;
  expect(await activity.report([use, written])).toEqual({ accepted: 2 });
  expect((await client.status()).services).toHaveLength(5);
  const stream = { stream: "ACTIVITY" };
  expect((await parked.list(stream).page({ limit: 5, cursor: "5" })).items).toEqual([]);
});

test("the SDK walks every page", async () => {
  const names = [];
  for await (const { name } of client.environments.list()) names.push(name);
  expect(names).toEqual(["dev", "prod"]);
});

test("the SDK follows decisions through the end of a stream", async () => {
  const asked: (bigint | undefined)[] = [];
  harness.fakes.audit.watchDecisions = async function* ({ afterSeq }) {
    asked.push(afterSeq);
    yield { record: aRecord((afterSeq ?? 6n) + 1n) };
  };
  const seqs = [];
  for await (const { seq } of client.audit.stream({ type: "TABLE_DROPPED" })) {
    seqs.push(seq);
    if (seqs.length === 3) break;
  }
  expect(seqs).toEqual([7, 8, 9]);
  expect(asked).toEqual([undefined, 7n, 8n]);
});

test("the SDK tells a problem by its code", async () => {
  harness.fakes.catalog.getTable = () => {
    throw notFound("TABLE_NOT_FOUND", "there is no table bronze.trial in dev");
  };
  await expect(client.tables.get("dev", "bronze.trial")).rejects.toMatchObject({
    code: "TABLE_NOT_FOUND",
    notFound: true,
    message: "there is no table bronze.trial in dev",
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});
