import { create, toJsonString } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  connectNats,
  createGrpcClient,
  createMetrics,
  encodeHeaders,
  ensureStreams,
  JSON_TYPE,
  listParked,
  type Metrics,
  type Nats,
  newId,
  type Ports,
  retryParked,
} from "@lapse/kit";
import { AuditService } from "@lapse/proto/audit";
import { DecisionSchema } from "@lapse/proto/events";
import {
  freePort,
  type TestDatabase,
  type TestNats,
  testDatabase,
  testNats,
  testTokens,
  waitFor,
} from "@lapse/test-kit";
import { readSettings } from "../src/config.ts";
import { startAudit } from "../src/service.ts";
import { SILENT } from "./lab/database.ts";
import { sentDecision } from "./lab/delivery.ts";
import type { AuditClient } from "./lab/lab.ts";
import { openIdleSource, openSource, type Source } from "./lab/source.ts";

const tokens = testTokens();

let broker: TestNats;
let nats: Nats;
let database: TestDatabase;
let source: Source;
let idle: Awaited<ReturnType<typeof openIdleSource>>;
let replicas: Replica[];
let admin: AuditClient;

interface Replica {
  readonly ports: Ports;
  readonly metrics: Metrics;
  stop(): Promise<void>;
}

async function startReplica(grpcPort: number): Promise<Replica> {
  const settings = readSettings({
    LAPSE_DATABASE__URL: database.url,
    LAPSE_NATS__URL: broker.url,
    LAPSE_AUTH__PUBLIC_KEY: tokens.publicKey,
    LAPSE_AUTH__SERVICE_TOKEN: tokens.sign({ subject: "audit", tenant: "*", kind: "service" }),
    LAPSE_PEERS__CATALOG_URL: source.url,
    LAPSE_PEERS__RETENTION_POLICY_URL: idle.url,
    LAPSE_PEERS__LIFECYCLE_EVALUATOR_URL: idle.url,
    LAPSE_PEERS__AUDIT_URL: `http://127.0.0.1:${grpcPort}`,
    LAPSE_SERVICE__GRPC_PORT: String(grpcPort),
    LAPSE_SERVICE__OPERATIONS_PORT: "0",
  });
  const metrics = createMetrics("audit");
  const ends: (() => Promise<unknown>)[] = [];
  const ports = await startAudit(settings, {
    log: SILENT,
    metrics,
    signal: new AbortController().signal,
    onStop: (_part, end) => ends.push(end),
    fail: (error) => {
      throw error;
    },
  });
  return {
    ports,
    metrics,
    async stop() {
      for (const end of ends.reverse()) await end();
    },
  };
}

function clientAs(subject: string, roles = [subject]): AuditClient {
  const [first] = replicas;
  return createGrpcClient(AuditService, {
    url: `http://127.0.0.1:${first?.ports.grpc}`,
    serviceToken: tokens.sign({ subject, tenant: "local", roles }),
    log: SILENT,
  });
}

/** Ends in reverse what was begun, also where the beginning failed half-way. */
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  broker = await testNats();
  ends.push(() => broker.close());
  nats = await connectNats({
    url: broker.url,
    name: "test",
    log: SILENT,
    metrics: createMetrics("test"),
  });
  ends.push(() => nats.close());
  await ensureStreams(nats);
  // The service migrates it itself, two replicas at once.
  database = await testDatabase({ migrations: async () => {}, name: "audit-service" });
  ends.push(() => database.drop());
  source = await openSource(nats, tokens.publicKey);
  ends.push(() => source.close());
  idle = await openIdleSource(tokens.publicKey);
  ends.push(() => idle.close());
  replicas = await Promise.all([startReplica(await freePort()), startReplica(await freePort())]);
  ends.push(() => Promise.all(replicas.map((replica) => replica.stop())));
  admin = clientAs("admin");
  ends.push(async () => admin.close());
}, 60_000);

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const records = async () => (await admin.verifyChain({})).records;

/** Waits until the log holds `ids`, each once, in a chain that verifies. */
async function expectAppended(ids: readonly string[], before: bigint, timeoutMs = 20_000) {
  const wanted = before + BigInt(ids.length);
  const found: string[] = [];
  const deadline = new Date(Date.now() + timeoutMs);
  for await (const { record } of admin.watchDecisions({ afterSeq: before }, { deadline })) {
    found.push(record?.decision?.id ?? "");
    if (record?.seq === wanted) break;
  }
  expect([...found].sort()).toEqual([...ids].sort());
  expect(await admin.verifyChain({})).toMatchObject({ ok: true, records: wanted });
}

describe("the service", () => {
  test("is ready once it serves", async () => {
    for (const { ports } of replicas) {
      const response = await fetch(`http://127.0.0.1:${ports.operations}/readyz`);
      expect(await response.json()).toMatchObject({ ok: true });
    }
  });

  test("two replicas take in what a source decides: each decision once, in one chain", async () => {
    const before = await records();
    const ids = [...(await source.decide(1_500)), ...(await source.decide(1_500))];
    await expectAppended(ids, before, 60_000);
  }, 90_000);

  test("a refused reader's refusal comes round into the log that it was refused", async () => {
    const reader = clientAs("reader");
    await expect(reader.listDecisions({})).rejects.toMatchObject({ kind: "denied" });
    reader.close();
    const filter = { type: "AUTHORIZATION_DENIED", actor: "reader" };
    const [record] = await waitFor(async () => {
      const page = await admin.listDecisions({ filter });
      return page.records.length > 0 ? page.records : undefined;
    });
    expect(record?.decision).toMatchObject({ service: "audit", details: { right: "audit.read" } });
  });

  test("T6 a role that is bound in the tenant opens the log, to nobody else", async () => {
    const [auditor, other] = [clientAs("auditor", []), clientAs("other", [])];
    expect((await auditor.listDecisions({ limit: 1 })).records).toHaveLength(1);
    await expect(other.listDecisions({})).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
    auditor.close();
    other.close();
  });

  test("an API key reads the log by its roles, and its refusal is recorded like a person's", async () => {
    const [first] = replicas;
    const url = `http://127.0.0.1:${first?.ports.grpc}`;
    const asKey = (serviceToken: string) =>
      createGrpcClient(AuditService, { url, serviceToken, log: SILENT });
    const keys = ["lapse_admin", "lapse_reader", "lapse_gone"].map(asKey);
    const [ofAdmin, ofReader, revoked] = keys;
    expect((await ofAdmin?.listDecisions({ limit: 1 }))?.records).toHaveLength(1);
    await expect(ofReader?.listDecisions({})).rejects.toMatchObject({ kind: "denied" });
    await expect(revoked?.listDecisions({})).rejects.toMatchObject({
      kind: "unauthenticated",
      reason: "KEY_REVOKED",
    });
    for (const key of keys) key.close();
    const filter = { type: "AUTHORIZATION_DENIED", actor: "key:reader" };
    await waitFor(async () => (await admin.listDecisions({ filter })).records.length === 1);
  });

  test("takes a decision in JSON from a service that numbers nothing", async () => {
    const before = await records();
    const sent = create(DecisionSchema, sentDecision({ service: "elsewhere" }));
    const headers = encodeHeaders({
      id: sent.id,
      type: DecisionSchema.typeName,
      source: "elsewhere",
      time: new Date(),
      contentType: JSON_TYPE,
    });
    const body = Buffer.from(toJsonString(DecisionSchema, sent));
    await nats.publish("decision.elsewhere.TABLE_DROPPED", body, headers, { msgId: sent.id });
    await expectAppended([sent.id], before);
  });

  test("parks what is no decision, and takes it in once it is put right and tried again", async () => {
    await nats.publish(
      "decision.catalog.TABLE_DROPPED",
      Buffer.from("nothing"),
      {},
      {
        msgId: newId(),
      },
    );
    const [parked] = await waitFor(async () => {
      const { items } = await listParked(nats, { stream: "DECISION" });
      return items.length > 0 ? items : undefined;
    });
    expect(parked?.reason).toContain("EVENT_UNREADABLE");
    if (parked) await retryParked(nats, parked.sequence);
    await waitFor(async () => {
      const { items } = await listParked(nats, { stream: "DECISION" });
      return items.some(({ sequence }) => sequence !== parked?.sequence);
    });
    expect((await admin.verifyChain({})).ok).toBe(true);
  });

  test("shows how far the chains are and what is missing", async () => {
    const [first] = replicas;
    await waitFor(
      async () => {
        const text = await first?.metrics.registry.metrics();
        const head = Number(/lapse_audit_chain_head\{[^}]*\} (\d+)/.exec(text ?? "")?.[1]);
        return head >= 3_000 && /lapse_audit_gaps\{[^}]*\} 0/.test(text ?? "");
      },
      { timeoutMs: 20_000 },
    );
  }, 30_000);

  test("loses no decision with the stream: what it never got it asks of the source, the last ones too", async () => {
    const before = await records();
    for (const replica of replicas) await replica.stop();
    admin.close();
    const lost = await source.decide(10);
    await waitFor(() => source.allSent());
    await nats.manager.streams.delete("DECISION");
    const kept = await source.decide(5);
    await waitFor(() => source.allSent());

    replicas = [await startReplica(await freePort())];
    admin = clientAs("admin");
    await waitFor(async () => (await records()) === before + 5n);
    expect((await admin.verifyChain({})).gaps).toMatchObject([{ source: "lapse.catalog" }]);

    const last = await source.decide(3);
    await waitFor(() => source.allSent());
    await expectAppended([...kept, ...last, ...lost], before, 60_000);
    expect((await admin.verifyChain({})).gaps).toEqual([]);
  }, 120_000);
});
