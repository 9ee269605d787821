import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  connectNats,
  createAuthenticator,
  createGrpcClient,
  createLogger,
  createMetrics,
  encodeHeaders,
  ensureStreams,
  listParked,
  type Nats,
  newId,
  type Ports,
} from "@lapse/kit";
import { OutboxService } from "@lapse/proto/common";
import {
  EnvironmentDeletedSchema,
  TablePurgedSchema,
  TableRestoredSchema,
} from "@lapse/proto/events";
import { RetentionPolicyService } from "@lapse/proto/policy";
import { calendarDay } from "@lapse/rules";
import {
  type TestDatabase,
  type TestNats,
  testDatabase,
  testNats,
  testTokens,
  waitFor,
} from "@lapse/test-kit";
import { readSettings } from "../src/config.ts";
import type { Environment, Table } from "../src/domain/table.ts";
import { startRetentionPolicy } from "../src/service.ts";
import { labCatalog } from "./lab/catalog.ts";
import { labEvaluator } from "./lab/evaluator.ts";
import { DAY_MS, type PolicyClient } from "./lab/lab.ts";
import { type PeerServers, servePeers } from "./lab/peer-servers.ts";

const tokens = testTokens();
const log = createLogger({ service: "retention-policy", level: "silent" });
const catalog = labCatalog();
const evaluator = labEvaluator();
/** Ends in reverse what was begun, also where the beginning failed half-way. */
const ends: (() => Promise<unknown>)[] = [];

let broker: TestNats;
let database: TestDatabase;
let peers: PeerServers;
let nats: Nats;
let ports: Ports;
let url: string;
let owner: PolicyClient;
let admin: PolicyClient;

const metrics = createMetrics("retention-policy");

beforeAll(async () => {
  broker = await testNats();
  ends.push(() => broker.close());
  // The service migrates it itself.
  database = await testDatabase({ migrations: async () => {}, name: "policy-service" });
  ends.push(() => database.drop());
  peers = await servePeers(
    catalog,
    evaluator,
    createAuthenticator({ publicKey: tokens.publicKey }),
  );
  ends.push(() => peers.stop());
  nats = await connectNats({ url: broker.url, name: "test", log, metrics });
  ends.push(() => nats.close());
  await ensureStreams(nats);
  const settings = readSettings({
    LAPSE_DATABASE__URL: database.url,
    LAPSE_NATS__URL: broker.url,
    LAPSE_AUTH__PUBLIC_KEY: tokens.publicKey,
    LAPSE_AUTH__SERVICE_TOKEN: tokens.sign({ subject: "policy", tenant: "*", kind: "service" }),
    LAPSE_PEERS__CATALOG_URL: peers.url,
    LAPSE_PEERS__LIFECYCLE_EVALUATOR_URL: peers.url,
    LAPSE_SERVICE__GRPC_PORT: "0",
    LAPSE_SERVICE__OPERATIONS_PORT: "0",
  });
  ports = await startRetentionPolicy(settings, {
    log,
    metrics,
    signal: new AbortController().signal,
    onStop: (_part, end) => ends.push(end),
    fail: (error) => {
      throw error;
    },
  });
  url = `http://127.0.0.1:${ports.grpc}`;
  const as = (subject: string, ...roles: string[]) => {
    const serviceToken = tokens.sign({ subject, tenant: "local", roles });
    const client = createGrpcClient(RetentionPolicyService, { url, serviceToken, log });
    ends.push(async () => client.close());
    return client;
  };
  owner = as("owner");
  admin = as("admin", "admin");
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const aTable = (): { environment: Environment; table: Table } => {
  const environment = catalog.addEnvironment();
  return { environment, table: catalog.addTable(environment) };
};
const DAYS = { rule: { case: "days", value: 3 } } as const;
const storedRule = async (tableId: string) =>
  (await owner.getTableRetention({ tableId })).table?.rule?.rule;
const storedDays = async (environmentId: string) =>
  (await owner.getEnvironmentRetention({ environmentId })).retention?.days;

/** The last message of a stream about one thing. */
async function lastMessage(subject: string) {
  return waitFor(async () => {
    const stream = subject.startsWith("policy") ? "POLICY" : "DECISION";
    return nats.manager.streams.getMessage(stream, { last_by_subj: subject });
  });
}

const snapshot = (environment: Environment, table: Table, version: bigint) => ({
  tableId: table.id,
  tenant: table.tenant,
  environmentId: environment.id,
  environment: environment.name,
  namespace: "bronze",
  name: "trial",
  changeVersion: version,
  retentionVersion: version,
});

async function publish(subject: string, body: Uint8Array, contentType = "application/protobuf") {
  const id = newId();
  const headers = encodeHeaders({
    id,
    type: subject,
    source: "lapse.catalog",
    time: new Date(),
    contentType,
  });
  await nats.publish(subject, body, headers, { msgId: id });
}

describe("the service", () => {
  test("is ready once it serves, and says by which checks", async () => {
    const response = await fetch(`http://127.0.0.1:${ports.operations}/readyz`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      checks: { database: { ok: true }, nats: { ok: true }, grpc: { ok: true } },
    });
  });

  test("asks its peers as itself, on behalf of the caller", async () => {
    const { table } = aTable();
    evaluator.answer = { lastActivityAt: new Date(0), expiresAt: new Date(8.64e14) };
    const answer = await owner.setTableRetention({ tableId: table.id, rule: DAYS });
    expect(answer.shortened).toBe(true);
    expect(peers.lastCall()?.principal).toMatchObject({ subject: "owner", tenant: "local" });
    expect(peers.lastCall()?.caller).toMatchObject({ subject: "policy", kind: "service" });
  });

  test("an evaluator that answers that it is behind is one that does not answer", async () => {
    const { table } = aTable();
    evaluator.answer = null;
    const answer = await owner.setTableRetention({ tableId: table.id, rule: DAYS });
    expect(answer.shortened).toBeUndefined();
  });

  test("another tenant's table is not there, as the catalog says", async () => {
    const environment = catalog.addEnvironment({ tenant: "other" });
    const { id } = catalog.addTable(environment);
    await expect(owner.setTableRetention({ tableId: id, rule: DAYS })).rejects.toMatchObject({
      kind: "not_found",
      reason: "TABLE_NOT_FOUND",
    });
  });

  test("publishes what it stored and what it decided", async () => {
    const { table } = aTable();
    await owner.setTableRetention({ tableId: table.id, rule: DAYS });
    const { header } = await lastMessage("policy.table.set");
    expect(header.get("ce-source")).toBe("lapse.retention-policy");
    expect(header.get("ce-type")).toBe("lapse.events.v1.TableRetentionSet");
    const decision = await lastMessage("decision.retention-policy.TABLE_RETENTION_SET");
    expect(Number(decision.header.get("ce-sequence"))).toBeGreaterThan(0);
  });

  test("serves its outbox to services and to nobody else", async () => {
    const { table } = aTable();
    await owner.setTableRetention({ tableId: table.id, rule: DAYS });
    const asService = createGrpcClient(OutboxService, {
      url,
      serviceToken: tokens.sign({ subject: "audit", tenant: "*", kind: "service" }),
      log,
    });
    const { heads } = await waitFor(async () => {
      const head = await asService.getOutboxHead({});
      return head.unsent === 0n ? head : undefined;
    });
    expect(heads.map(({ stream }) => stream).sort()).toEqual(["DECISION", "POLICY"]);
    asService.close();
    const asOwner = createGrpcClient(OutboxService, {
      url,
      serviceToken: tokens.sign({ subject: "owner", tenant: "local" }),
      log,
    });
    await expect(asOwner.getOutboxHead({})).rejects.toMatchObject({ kind: "denied" });
    asOwner.close();
  });

  test("refuses a caller without a token of ours", async () => {
    const stranger = createGrpcClient(RetentionPolicyService, {
      url,
      serviceToken: testTokens().sign({ subject: "owner", tenant: "local" }),
      log,
    });
    await expect(stranger.getTableRetention({ tableId: newId() })).rejects.toMatchObject({
      kind: "unauthenticated",
    });
    stranger.close();
  });
});

describe("the events of the catalog", () => {
  test("T28 a restore removes a day that had come", async () => {
    const { environment, table } = aTable();
    const on = calendarDay(new Date(Date.now() + 2 * DAY_MS));
    await owner.setTableRetention({
      tableId: table.id,
      rule: { rule: { case: "on", value: on } },
    });
    const message = create(TableRestoredSchema, {
      table: {
        ...snapshot(environment, table, 9n),
        restoredAt: timestampFromDate(new Date(`${on}T08:00:00Z`)),
      },
      actor: "ana",
    });
    await publish("catalog.table.restored", toBinary(TableRestoredSchema, message));
    await waitFor(async () => (await storedRule(table.id)) === undefined);
    await lastMessage("decision.retention-policy.TABLE_RETENTION_CLEARED");
  });

  test("a purge and a deletion make it forget, in JSON as well", async () => {
    const { environment, table } = aTable();
    await owner.setTableRetention({ tableId: table.id, rule: DAYS });
    await admin.setEnvironmentRetention({ environmentId: environment.id, days: 30 });
    expect(await storedDays(environment.id)).toBe(30);
    const purged = create(TablePurgedSchema, { table: snapshot(environment, table, 9n) });
    const json = Buffer.from(toJsonString(TablePurgedSchema, purged));
    await publish("catalog.table.purged", json, "application/json");
    const deleted = create(EnvironmentDeletedSchema, {
      environment: { environmentId: environment.id, tenant: "local", changeVersion: 4n },
    });
    await publish("catalog.environment.deleted", toBinary(EnvironmentDeletedSchema, deleted));
    await waitFor(async () => (await storedRule(table.id)) === undefined);
    await waitFor(async () => (await storedDays(environment.id)) === undefined);
  });

  test("one that says nothing is parked, and those after it are heard", async () => {
    const { environment, table } = aTable();
    await owner.setTableRetention({ tableId: table.id, rule: DAYS });
    const empty = create(TableRestoredSchema, {});
    await publish("catalog.table.restored", toBinary(TableRestoredSchema, empty));
    await publish("catalog.table.restored", Buffer.from("no message at all"));
    const restored = create(TableRestoredSchema, {
      table: {
        ...snapshot(environment, table, 9n),
        restoredAt: timestampFromDate(new Date()),
      },
    });
    await publish("catalog.table.restored", toBinary(TableRestoredSchema, restored));
    await waitFor(async () => {
      const { table: stored } = await owner.getTableRetention({ tableId: table.id });
      return stored?.retentionVersion === 9n;
    });
    const parked = await waitFor(async () => {
      const { items } = await listParked(nats, { stream: "CATALOG" });
      return items.length >= 2 ? items : undefined;
    });
    expect(parked.map(({ reason }) => reason.split(":")[0]).sort()).toEqual([
      "EVENT_INCOMPLETE",
      "EVENT_UNREADABLE",
    ]);
  });

  test("are heard after the broker was killed and is back", async () => {
    const { environment, table } = aTable();
    await owner.setTableRetention({ tableId: table.id, rule: DAYS });
    await broker.kill();
    await broker.start();
    const message = create(TablePurgedSchema, { table: snapshot(environment, table, 9n) });
    await waitFor(
      async () => {
        await publish("catalog.table.purged", toBinary(TablePurgedSchema, message));
        return true;
      },
      { timeoutMs: 20_000 },
    );
    await waitFor(async () => (await storedRule(table.id)) === undefined, { timeoutMs: 30_000 });
  }, 60_000);
});
