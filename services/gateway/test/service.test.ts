import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  connectNats,
  createLogger,
  createMetrics,
  type Delivery,
  ensureStreams,
  findStream,
  listParked,
  type Nats,
  type Stoppable,
  startConsumer,
} from "@lapse/kit";
import { PrincipalKind } from "@lapse/proto/common";
import { ActivityBatchSchema } from "@lapse/proto/events";
import { type TestNats, testNats, testTokens, waitFor } from "@lapse/test-kit";
import { readSettings } from "../src/config.ts";
import { type Ports, startGateway } from "../src/service.ts";
import { type FakeServices, GATEWAY_TOKEN, startFakeServices } from "./fake-services.ts";
import { aTable, at, TABLE_ID } from "./messages.ts";

const SILENT = createLogger({ service: "test", level: "silent" });
const tokens = testTokens();

let broker: TestNats;
let nats: Nats;
let services: FakeServices;

beforeAll(async () => {
  broker = await testNats();
  nats = await connectNats({
    url: broker.url,
    name: "test",
    log: SILENT,
    metrics: createMetrics("test"),
  });
  services = await startFakeServices();
}, 60_000);
afterAll(async () => {
  await nats.close();
  await services.stop();
  await broker.close();
});

interface Running {
  readonly ports: Ports;
  call(
    method: string,
    path: string,
    request?: { body?: unknown; key?: string; role?: string; token?: string },
  ): Promise<Response>;
  ready(): Promise<{ status: number; checks: Record<string, { ok: boolean }> }>;
  stop(): Promise<void>;
}

async function startRunning(natsUrl = broker.url): Promise<Running> {
  const settings = readSettings({
    LAPSE_NATS__URL: natsUrl,
    LAPSE_AUTH__PUBLIC_KEY: tokens.publicKey,
    LAPSE_AUTH__SERVICE_TOKEN: GATEWAY_TOKEN,
    LAPSE_PEERS__CATALOG_URL: services.urls.catalogUrl,
    LAPSE_PEERS__RETENTION_POLICY_URL: services.urls.retentionPolicyUrl,
    LAPSE_PEERS__LIFECYCLE_EVALUATOR_URL: services.urls.lifecycleEvaluatorUrl,
    LAPSE_PEERS__AUDIT_URL: services.urls.auditUrl,
    LAPSE_SERVICE__HTTP_PORT: "0",
    LAPSE_SERVICE__OPERATIONS_PORT: "0",
  });
  const ends: (() => Promise<unknown>)[] = [];
  const stopping = new AbortController();
  const ports = await startGateway(settings, {
    log: SILENT,
    metrics: createMetrics("gateway"),
    signal: stopping.signal,
    onStop: (_part, end) => ends.push(end),
    fail: (error) => {
      throw error;
    },
  });
  return {
    ports,
    call: (method, path, { body, key, role = "admin", token } = {}) =>
      fetch(`http://127.0.0.1:${ports.http}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token ?? tokens.sign({ subject: role, tenant: "local", roles: [role] })}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(key !== undefined && { "idempotency-key": key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async ready() {
      const answer = await fetch(`http://127.0.0.1:${ports.operations}/readyz`);
      const { checks } = (await answer.json()) as Awaited<ReturnType<Running["ready"]>>;
      return { status: answer.status, checks };
    },
    async stop() {
      stopping.abort();
      for (const end of ends.splice(0).reverse()) await end();
    },
  };
}

let gateway: Running;
beforeEach(async () => {
  services.reset();
  services.fakes.catalog.getTable = () => ({ table: aTable() });
  services.fakes.catalog.batchGetTables = ({ tables }) => ({
    tables: tables.map((_ref, index) => ({ index, table: aTable() })),
  });
  await broker.start();
  gateway = await startRunning();
});
afterEach(() => gateway.stop());

const REPORT = {
  events: [
    { kind: "read", table_id: TABLE_ID, source: "trino" },
    { kind: "written", table_id: TABLE_ID },
  ],
};

const activityCount = async () => (await findStream(nats, "ACTIVITY"))?.state.messages ?? 0;

describe("activity (T14)", () => {
  let deliveries: Delivery[];
  let consumer: Stoppable;
  beforeEach(async () => {
    await ensureStreams(nats);
    deliveries = [];
    consumer = startConsumer({
      nats,
      stream: "ACTIVITY",
      durable: `test-${Date.now()}`,
      batch: 10,
      handle: async (messages) => {
        deliveries.push(...messages);
      },
      log: SILENT,
      metrics: createMetrics("test"),
    });
  });
  afterEach(() => consumer.stop());

  test("that was accepted is in the stream", async () => {
    const before = await activityCount();
    const answer = await gateway.call("POST", "/api/v1/activity", { body: REPORT });
    expect(answer.status).toBe(202);
    expect(await activityCount()).toBe(before + 2);
    await waitFor(() => deliveries.some(({ subject }) => subject === "activity.table.written"));
    const read = deliveries.find(({ subject }) => subject === "activity.table.read");
    expect(read?.event).toMatchObject({ source: "lapse.gateway" });
    expect(fromBinary(ActivityBatchSchema, read?.body ?? new Uint8Array()).events).toMatchObject([
      { tableId: TABLE_ID, source: "trino", actor: "admin" },
    ]);
  });

  test("that is reported again with the same key is kept once; without a key it counts again", async () => {
    const before = await activityCount();
    const post = (key?: string) =>
      gateway.call("POST", "/api/v1/activity", { body: REPORT, ...(key !== undefined && { key }) });
    expect((await post("k1")).status).toBe(202);
    expect((await post("k1")).status).toBe(202);
    expect(await activityCount()).toBe(before + 2);
    await post();
    await post();
    expect(await activityCount()).toBe(before + 6);
  });

  test("T16 of an Iceberg report is in the stream as well, from a client with an API key", async () => {
    const token = `lapse_${"0".repeat(32)}_${"x".repeat(43)}`;
    services.fakes.access.authenticateApiKey = (asked) => {
      expect(asked.token).toBe(token);
      const principal = {
        subject: "key:1",
        tenant: "local",
        roles: ["writer"],
        kind: PrincipalKind.KEY,
      };
      return { principal, expiresAt: at("2099-01-01T00:00:00Z") };
    };
    const path = "/v1/dev/namespaces/bronze/tables/trial/metrics";
    const body = { "report-type": "commit-report", operation: "replace" };
    expect((await gateway.call("POST", path, { body, token })).status).toBe(204);
    await waitFor(() => deliveries.some(({ subject }) => subject === "activity.table.maintained"));
    const found = deliveries.find(({ subject }) => subject === "activity.table.maintained");
    expect(fromBinary(ActivityBatchSchema, found?.body ?? new Uint8Array()).events).toMatchObject([
      { tableId: TABLE_ID, source: "iceberg", actor: "key:1" },
    ]);
  });

  test("goes on when the stream was deleted: it is made again", async () => {
    await nats.manager.streams.delete("ACTIVITY");
    expect((await gateway.call("POST", "/api/v1/activity", { body: REPORT })).status).toBe(202);
    expect(await activityCount()).toBe(2);
  });
});

describe("while NATS is away", () => {
  test("activity is refused with 503, and the rest is served; it recovers by itself", async () => {
    await broker.stop();
    await waitFor(async () => (await gateway.ready()).status === 503);
    const refused = await gateway.call("POST", "/api/v1/activity", { body: REPORT, key: "k2" });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: "ACTIVITY_NOT_STORED" });
    const parked = await gateway.call("GET", "/api/v1/parked", { role: "superadmin" });
    expect(parked.status).toBe(503);
    expect((await gateway.call("GET", `/api/v1/tables/${TABLE_ID}`)).status).toBe(200);
    await broker.start();
    await waitFor(async () => (await gateway.ready()).status === 200, { timeoutMs: 20_000 });
    const accepted = await gateway.call("POST", "/api/v1/activity", { body: REPORT, key: "k2" });
    expect(accepted.status).toBe(202);
  }, 60_000);

  test("the gateway starts all the same, and is not ready", async () => {
    const other = await startRunning("nats://127.0.0.1:9");
    try {
      expect(await other.ready()).toMatchObject({
        status: 503,
        checks: { nats: { ok: false }, http: { ok: true } },
      });
      expect((await other.call("GET", `/api/v1/tables/${TABLE_ID}`)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });
});

describe("parked messages", () => {
  test("are listed, sent again and discarded", async () => {
    await ensureStreams(nats);
    await waitFor(() => nats.connected);
    const park = (id: string) =>
      nats.publish(
        "parked.ACTIVITY",
        Buffer.from("junk"),
        {
          "lapse-park-reason": "EVENT_UNREADABLE",
          "lapse-park-consumer": "evaluator-activity",
          "lapse-park-subject": "activity.table.read",
          "lapse-park-stream": "ACTIVITY",
          "lapse-park-stream-sequence": "1",
          "lapse-park-deliveries": "1",
        },
        { msgId: id },
      );
    await park("one");
    await park("two");
    const superadmin = { role: "superadmin" };
    const list = await gateway.call("GET", "/api/v1/parked?stream=ACTIVITY&limit=1", superadmin);
    const page = (await list.json()) as { items: { id: string }[]; next_cursor: string };
    expect(page.items).toMatchObject([
      { reason: "EVENT_UNREADABLE", subject: "activity.table.read" },
    ]);
    const next = await gateway.call("GET", `/api/v1/parked?cursor=${page.next_cursor}`, superadmin);
    const { items } = (await next.json()) as { items: { id: string }[] };
    const before = await activityCount();
    const retried = await gateway.call(
      "POST",
      `/api/v1/parked/${page.items[0]?.id}/retry`,
      superadmin,
    );
    const discarded = await gateway.call("DELETE", `/api/v1/parked/${items[0]?.id}`, superadmin);
    expect([retried.status, discarded.status]).toEqual([204, 204]);
    expect(await activityCount()).toBe(before + 1);
    expect((await listParked(nats)).items).toEqual([]);
    const gone = await gateway.call("DELETE", `/api/v1/parked/${items[0]?.id}`, superadmin);
    expect(gone.status).toBe(404);
  });

  test("there are none while nothing ever was: the stream is made", async () => {
    await ensureStreams(nats);
    await nats.manager.streams.delete("PARKED");
    const list = await gateway.call("GET", "/api/v1/parked", { role: "superadmin" });
    expect(await list.json()).toEqual({ items: [], next_cursor: null });
  });
});

describe("stopping", () => {
  test("finishes what is under way, and is not ready meanwhile", async () => {
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      services.fakes.catalog.getTable = () => {
        resolve();
        return new Promise((give) => {
          answer = () => give({ table: aTable() });
        });
      };
    });
    const pending = gateway.call("GET", `/api/v1/tables/${TABLE_ID}`);
    await asked;
    const stopped = gateway.stop();
    await waitFor(async () => (await gateway.ready()).status === 503);
    await expect(fetch(`http://127.0.0.1:${gateway.ports.http}/docs`)).rejects.toThrow();
    answer();
    expect((await pending).status).toBe(200);
    await stopped;
    await expect(gateway.ready()).rejects.toThrow();
  });
});
