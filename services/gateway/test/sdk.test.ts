import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { notFound } from "@lapse/kit";
import { TableState } from "@lapse/proto/events";
import type * as sdk from "@lapse/sdk";
import { createClient, eachItem, type LapseClient } from "@lapse/sdk";
import type { ActivityEventJson } from "../src/api/schemas/activity.ts";
import type { ChainVerificationJson, DecisionRecordJson } from "../src/api/schemas/audit.ts";
import type { EnvironmentJson, EnvironmentRetentionJson } from "../src/api/schemas/environment.ts";
import type { ParkedMessageJson, SystemStatusJson } from "../src/api/schemas/operations.ts";
import type {
  ExpiringTableJson,
  RetentionJson,
  RetentionSetJson,
  SweepCandidateJson,
} from "../src/api/schemas/retention.ts";
import type { SweepJson, SweepRunJson, SweepWithOutcomesJson } from "../src/api/schemas/sweep.ts";
import type { CommittedTableJson, TableJson } from "../src/api/schemas/table.ts";
import type { HoldJson, TableFilesJson, TableReadsJson } from "../src/api/schemas/table-data.ts";
import { type Harness, listening, startHarness } from "./harness.ts";
import {
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

/** Compiles only where what the gateway gives is what the SDK promises. */
type Agrees<Promised, Given> = Sent<Given> extends Promised ? true : false;
/** JSON leaves out what is undefined. */
type Sent<T> = T extends object ? { [K in keyof T]: Sent<Exclude<T[K], undefined>> } : T;
const compiles = <_Pairs extends readonly true[]>(): void => undefined;
compiles<
  [
    Agrees<sdk.Environment, EnvironmentJson>,
    Agrees<sdk.EnvironmentRetention, EnvironmentRetentionJson>,
    Agrees<sdk.Table, TableJson>,
    Agrees<sdk.CommittedTable, CommittedTableJson>,
    Agrees<sdk.Retention, RetentionJson>,
    Agrees<sdk.Retention, RetentionSetJson>,
    Agrees<sdk.ExpiringTable, ExpiringTableJson>,
    Agrees<sdk.SweepCandidate, SweepCandidateJson>,
    Agrees<sdk.TableFiles, TableFilesJson>,
    Agrees<sdk.TableReads, TableReadsJson>,
    Agrees<sdk.Hold, HoldJson>,
    Agrees<sdk.Sweep, SweepJson>,
    Agrees<sdk.Sweep, SweepWithOutcomesJson>,
    Agrees<sdk.SweepRun, SweepRunJson>,
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

test("the SDK gets what it asks for by every call", async () => {
  const { environments, tables, sweeps, audit, activity, parked } = client;
  const name = "bronze.trial";
  const id = TABLE_ID;

  expect(await environments.create("dev", { protected: true })).toMatchObject({ name: "dev" });
  expect(await environments.get("dev")).toMatchObject({ name: "dev" });
  expect(await environments.protect("dev", true)).toMatchObject({ protected: true });
  expect(await environments.retention("dev")).toMatchObject({ days: null });
  expect(await environments.setRetention("dev", 30)).toMatchObject({ days: 30 });
  expect(await environments.setRetention("dev", null)).toMatchObject({ days: null });

  const columns = [{ name: "id", type: "BIGINT" }];
  const created = { kind: "managed", columns, description: "", expireAfterDays: 3 } as const;
  expect(await tables.create("dev", name, created)).toMatchObject({ state: "live" });
  expect(await tables.create("dev", name, { staged: true })).toMatchObject({ state: "staged" });
  expect(await tables.get("dev", name)).toMatchObject({ id });
  const page = { limit: 5, cursor: "c" };
  expect((await tables.list("dev", page)).items).toMatchObject([{ namespace: "all" }]);
  expect((await tables.list("dev", { namespace: "silver" })).items).toMatchObject([
    { namespace: "silver" },
  ]);
  expect(await tables.describe("dev", name, "new")).toMatchObject({ id });
  expect(await tables.drop("dev", name)).toMatchObject({ id });
  expect(await tables.undrop("dev", name, { id, as: "back" })).toMatchObject({ id });
  expect(await tables.undrop("dev", name)).toMatchObject({ id });
  expect(await tables.undropById("dev", id)).toMatchObject({ id });
  expect((await tables.dropped("dev", page)).items).toHaveLength(1);
  expect(await tables.retention("dev", name)).toMatchObject({ days: 30 });
  expect(await tables.setRetention("dev", name, { on: "2027-01-01" })).toMatchObject({
    on: "2027-01-01",
  });
  expect(await tables.setRetentionById(id, { never: true })).toMatchObject({ never: true });
  expect((await tables.expiring("dev", { withinDays: 7, ...page })).items).toHaveLength(1);
  expect(await tables.files("dev", name)).toMatchObject({ snapshot_id: null, files: [] });
  expect(await tables.reads("dev", name)).toEqual({ days: [], sources: [] });
  const file = { path: "data/a.parquet", byte_size: 1, row_count: 1 };
  const commit = { operation: "append", files: [file], columns, hold_id: OTHER_ID } as const;
  expect(await tables.commit(id, commit)).toMatchObject({ snapshot_id: OTHER_ID });
  expect(await tables.hold(id)).toMatchObject({ id: OTHER_ID });
  expect(await tables.renewHold(OTHER_ID)).toMatchObject({ id: OTHER_ID });
  expect(await tables.releaseHold(OTHER_ID)).toBeUndefined();

  expect(await sweeps.run({ waitSeconds: 1 })).toMatchObject({ would_drop: null });
  expect(await sweeps.run({ dryRun: true })).toMatchObject({ would_drop: [] });
  expect((await sweeps.list(page)).items).toHaveLength(1);
  expect(await sweeps.get(OTHER_ID)).toMatchObject({ outcomes: [] });
  expect(await sweeps.pause("why")).toBeUndefined();
  expect(await sweeps.resume()).toBeUndefined();

  const filter = {
    type: "T",
    resource: "r",
    actor: "a",
    since: "2026-01-01T00:00:00Z",
    run_id: "s",
  };
  expect((await audit.list({ ...filter, ...page })).items).toMatchObject([{ seq: 1 }]);
  expect(await audit.verify()).toMatchObject({ ok: true });
  const use = { kind: "read", environment: "dev", table: name, source: "cli" } as const;
  expect(await activity.report(use)).toEqual({ accepted: 1 });
  expect(await activity.report([use, { kind: "written", table_id: id }])).toEqual({ accepted: 2 });
  expect((await client.status()).services).toHaveLength(5);
  expect((await parked.list({ stream: "ACTIVITY", ...page, cursor: "5" })).items).toEqual([]);
});

test("the SDK walks every page", async () => {
  const names = [];
  for await (const { name } of eachItem((page) => client.environments.list(page))) names.push(name);
  expect(names).toEqual(["dev", "prod"]);
});

test("the SDK follows decisions through the end of a stream", async () => {
  const asked: (bigint | undefined)[] = [];
  harness.fakes.audit.watchDecisions = async function* ({ afterSeq }) {
    asked.push(afterSeq);
    yield { record: aRecord((afterSeq ?? 6n) + 1n) };
  };
  const seqs = [];
  for await (const { seq } of client.audit.watch({ type: "TABLE_DROPPED" })) {
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
