import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toJsonString } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  connectNats,
  createGrpcClient,
  createLogger,
  createMetrics,
  createPool,
  encodeHeaders,
  listParked,
  type Nats,
  newId,
  type Pool,
  type Ports,
  type Role,
  SUBJECTS,
} from "@lapse/kit";
import { AccessService, CatalogService, type Table } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
import { TableDueSchema, TableState } from "@lapse/proto/events";
import { type TestDatabase, type TestNats, testDatabase, testNats, waitFor } from "@lapse/test-kit";
import { readSettings } from "../src/config.ts";
import { startCatalog } from "../src/service.ts";
import { aName, type CatalogClient } from "./lab/lab.ts";
import { labEvaluator, labRetentionPolicy } from "./lab/peers.ts";
import { stubPeers } from "./lab/stub-server.ts";
import { present, tableById } from "./lab/tables.ts";
import { tokenIssuer } from "./lab/tokens.ts";

const log = createLogger({ service: "catalog", level: "silent" });
const metrics = createMetrics("catalog");
const issuer = tokenIssuer();
const serviceToken = issuer.issue({ sub: "catalog", tenant: "*", kind: "service" });
const ends: (() => Promise<unknown>)[] = [];

let database: TestDatabase;
let broker: TestNats;
let nats: Nats;
let pool: Pool;
let ports: Ports;
let client: CatalogClient;
const environment = aName().replace("t_", "env-");
const policy = labRetentionPolicy();

const tokenOf = (subject: string, role: Role) =>
  issuer.issue({ sub: subject, tenant: "local", roles: [role] });

beforeAll(async () => {
  const migrations = join(import.meta.dirname, "..", "migrations");
  database = await testDatabase({ migrations, name: "catalog-service" });
  broker = await testNats();
  const folder = await mkdtemp(join(tmpdir(), "lapse-catalog-"));
  ends.push(
    () => rm(folder, { recursive: true }),
    () => broker.close(),
    () => database.drop(),
  );
  pool = createPool({ url: database.url, applicationName: "test", log });
  ends.push(() => pool.end());
  const peers = stubPeers({ evaluator: labEvaluator(pool), policy }, { log, metrics });
  const peerUrl = `http://127.0.0.1:${await peers.listen("127.0.0.1", 0)}`;
  ends.push(() => peers.stop());
  const settings = readSettings({
    LAPSE_DATABASE__URL: database.url,
    LAPSE_NATS__URL: broker.url,
    LAPSE_AUTH__PUBLIC_KEY: issuer.publicKey,
    LAPSE_AUTH__SERVICE_TOKEN: serviceToken,
    LAPSE_OBJECT_STORE__PATH: folder,
    LAPSE_PEERS__LIFECYCLE_EVALUATOR_URL: peerUrl,
    LAPSE_PEERS__RETENTION_POLICY_URL: peerUrl,
    LAPSE_SERVICE__GRPC_PORT: "0",
    LAPSE_SERVICE__OPERATIONS_PORT: "0",
    LAPSE_TABLES__UNDO_DAYS: "0",
    LAPSE_TIME__DAY_SECONDS: "2",
  });
  ports = await startCatalog(settings, {
    log,
    metrics,
    signal: new AbortController().signal,
    onStop: (_, end) => ends.push(end),
    fail: (error) => {
      throw error;
    },
    jobIntervals: { purge: 50, removal: 200 },
  });
  nats = await connectNats({ url: broker.url, name: "test", log, metrics: createMetrics("test") });
  ends.push(() => nats.close());
  const url = `http://127.0.0.1:${ports.grpc}`;
  client = createGrpcClient(CatalogService, { url, serviceToken: tokenOf("ana", "admin"), log });
  ends.push(async () => client.close());
  await client.createEnvironment({ name: environment });
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function liveTable(): Promise<Table> {
  const name = { environment, namespace: "bronze", name: aName() };
  return present((await client.createTable({ name })).table);
}

const due = (table: Table) => ({
  tableId: table.tableId,
  tenant: table.tenant,
  environmentId: table.environmentId,
  sweepId: newId(),
  changeVersion: table.changeVersion,
  retentionVersion: table.retentionVersion,
  policyVersion: table.environmentPolicyVersion,
  issuedAt: timestampNow(),
});

/** As JSON, which any service may publish. */
async function publishDue(text: string): Promise<void> {
  const id = newId();
  const headers = encodeHeaders({
    id,
    type: TableDueSchema.typeName,
    source: "lapse.lifecycle-evaluator",
    time: new Date(),
    contentType: "application/json",
  });
  await nats.publish(SUBJECTS.expiry.tableDue, Buffer.from(text), headers, { msgId: id });
}

const publish = (table: Table, patch = {}) =>
  publishDue(toJsonString(TableDueSchema, create(TableDueSchema, { ...due(table), ...patch })));

const stateOf = async ({ tableId }: Table) => {
  const { rows } = await pool.query<{ state: string }>(
    "select state from catalog_table where table_id = $1",
    [tableId],
  );
  return rows[0]?.state;
};

/** The subjects under which events about a table reached the broker. */
async function publishedAbout({ tableId }: Pick<Table, "tableId">): Promise<string[]> {
  const { rows } = await pool.query<{ subject: string }>(
    "select subject from lapse_kit.outbox where event_subject = $1 and published_at is not null order by position",
    [tableId],
  );
  return rows.map(({ subject }) => subject);
}

const operations = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${ports.operations}${path}`);
  return { status: response.status, text: await response.text() };
};

describe("the running service", () => {
  test("T27, T30 takes a due event from the broker, drops the table, and purges it when its day is over", async () => {
    const table = await liveTable();
    await publish(table);
    await waitFor(async () => (await stateOf(table)) === "dropped");
    const { table: dropped } = await client.getTable(tableById(table.tableId));
    expect(dropped).toMatchObject({ state: TableState.DROPPED, dropReason: "retention" });
    await waitFor(async () => (await stateOf(table)) === "purged");
    await waitFor(async () =>
      (await publishedAbout(table)).includes("decision.catalog.TABLE_PURGED"),
    );
    expect(await publishedAbout(table)).toEqual([
      "catalog.table.created",
      "decision.catalog.TABLE_CREATED",
      "catalog.table.dropped",
      "decision.catalog.TABLE_DROPPED",
      "catalog.table.changed",
      "catalog.table.purged",
      "decision.catalog.TABLE_PURGED",
    ]);
  });

  test("asks retention-policy over gRPC to settle what it is behind in", async () => {
    const table = await liveTable();
    await client.touchTable(tableById(table.tableId));
    await publish(table);
    await waitFor(() => policy.tables.some(({ tableId }) => tableId === table.tableId));
    expect(await stateOf(table)).toBe("live");
  });

  test("parks a due event that is none, and answers those around it", async () => {
    const [a, b] = [await liveTable(), await liveTable()];
    await publish(a);
    await publishDue("this is no event");
    await publishDue(
      JSON.stringify({ tableId: "x'; drop table catalog_table; --", tenant: "local" }),
    );
    await publishDue(JSON.stringify({ tableId: b.tableId, tenant: "local", sweepId: newId() }));
    await publish(b);
    await waitFor(async () => (await stateOf(a)) !== "live" && (await stateOf(b)) !== "live");
    const parked = await waitFor(async () => {
      const { items } = await listParked(nats, { stream: "EXPIRY" });
      return items.length >= 3 && items;
    });
    expect(parked).toHaveLength(3);
  });

  test("drops nothing while the broker is away, and goes on when it is back", async () => {
    const table = await liveTable();
    await broker.kill();
    await waitFor(async () => (await operations("/readyz")).status === 503);
    // What is changed meanwhile waits in the outbox.
    const other = await liveTable();
    await broker.start();
    await waitFor(async () => (await operations("/readyz")).status === 200);
    await waitFor(() => nats.connected);
    expect(await stateOf(table)).toBe("live");
    await publish(table);
    await waitFor(async () => (await stateOf(table)) !== "live");
    await waitFor(async () => (await publishedAbout(other)).includes("catalog.table.created"));
  });

  test("replays its outbox to services, without a gap", async () => {
    const url = `http://127.0.0.1:${ports.grpc}`;
    const outbox = createGrpcClient(OutboxService, { url, serviceToken, log });
    const head = await waitFor(async () => {
      const { heads, unsent } = await outbox.getOutboxHead({});
      return unsent === 0n ? heads.find(({ stream }) => stream === "CATALOG") : undefined;
    });
    let count = 0n;
    const range = { stream: "CATALOG", fromSequence: 1n, toSequence: head.lastSequence };
    for await (const { headers } of outbox.replayOutbox(range)) {
      count += 1n;
      expect(headers["ce-sequence"]).toBe(String(count));
      expect(headers["ce-source"]).toBe("lapse.catalog");
    }
    expect(count).toBe(head.lastSequence);
    outbox.close();
  });

  test("answers only whom it knows, and says on behalf of whom a service acts", async () => {
    const url = `http://127.0.0.1:${ports.grpc}`;
    const stranger = createGrpcClient(CatalogService, {
      url,
      serviceToken: tokenIssuer().issue({ sub: "x" }),
      log,
    });
    await expect(stranger.listEnvironments({})).rejects.toMatchObject({ kind: "unauthenticated" });
    stranger.close();
    const service = createGrpcClient(CatalogService, { url, serviceToken, log });
    const reader = {
      subject: "rita",
      tenant: "local",
      roles: ["reader" as const],
      kind: "person" as const,
    };
    const table = await liveTable();
    await expect(
      service.dropTable(tableById(table.tableId), { principal: reader }),
    ).rejects.toMatchObject({ kind: "denied" });
    await waitFor(async () =>
      (await publishedAbout(table)).includes("decision.catalog.AUTHORIZATION_DENIED"),
    );
    service.close();
  });

  test("T6 takes an API key of its own for whom it stands for, until it is revoked, within seconds", async () => {
    const url = `http://127.0.0.1:${ports.grpc}`;
    const admin = createGrpcClient(AccessService, {
      url,
      serviceToken: tokenOf("ana", "admin"),
      log,
    });
    const { key, token } = await admin.createApiKey({ name: "export", roles: ["reader"] });
    const { keyId, subject } = present(key);
    const byKey = createGrpcClient(CatalogService, { url, serviceToken: token, log });
    const table = await liveTable();
    const found = await byKey.getTable(tableById(table.tableId));
    expect(found.table?.rights).toEqual(["table.read"]);
    await expect(byKey.dropTable(tableById(table.tableId))).rejects.toMatchObject({
      kind: "denied",
      details: { subject },
    });
    // What is granted to the key's subject counts for it too.
    await admin.grantTable({ ...tableById(table.tableId), subject, right: "drop" });
    await byKey.dropTable(tableById(table.tableId));
    await admin.revokeApiKey({ keyId });
    const refused = await waitFor(
      () =>
        byKey.listEnvironments({}).then(
          () => undefined,
          (error) => error,
        ),
      { timeoutMs: 7_000, message: "the revoked key is refused" },
    );
    expect(refused).toMatchObject({ kind: "unauthenticated", reason: "KEY_REVOKED" });
    await waitFor(async () => (await publishedAbout({ tableId: keyId })).length === 3);
    expect(await publishedAbout({ tableId: keyId })).toEqual([
      "decision.catalog.API_KEY_CREATED",
      "decision.catalog.API_KEY_REVOKED",
      "decision.catalog.AUTHORIZATION_DENIED",
    ]);
    for (const each of [admin, byKey]) each.close();
  });

  test("shows its health and what it counts", async () => {
    expect(await operations("/healthz")).toMatchObject({ status: 200 });
    expect(await operations("/readyz")).toMatchObject({ status: 200 });
    const { text } = await operations("/metrics");
    for (const name of [
      "lapse_tables_dropped_total",
      "lapse_tables_kept_total",
      "lapse_tables_purged_total",
      "lapse_purge_failures_total",
      "lapse_holds_active",
      "lapse_outbox_unsent",
    ]) {
      expect(text).toContain(name);
    }
  });
});
