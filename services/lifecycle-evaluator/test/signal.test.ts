import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from "@jest/globals";
import { missingRanges, newId } from "@lapse/kit";
import { SweepStatus } from "@lapse/proto/evaluator";
import { EnvironmentChangedSchema, TableChange, TableChangedSchema } from "@lapse/proto/events";
import { type TestNats, testNats, testTokens, waitFor } from "@lapse/test-kit";
import { type CatalogDouble, playCatalog } from "./lab/catalog-double.ts";
import { type LabDatabase, labDatabase } from "./lab/database.ts";
import { decisionsOf } from "./lab/decisions.ts";
import { as, type Evaluator, metricOf, startTestEvaluator } from "./lab/evaluator.ts";
import { type OutboxServers, serveOutboxes } from "./lab/outbox-server.ts";
import { daysAgo, Publishers, tableInit } from "./lab/publishers.ts";

let db: LabDatabase;
let broker: TestNats;
let evaluator: Evaluator;
let publishers: Publishers;
let catalog: CatalogDouble;
let outboxes: OutboxServers | undefined;
const tokens = testTokens();
jest.setTimeout(60_000);

beforeAll(async () => {
  db = await labDatabase("signal");
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.clear();
  broker = await testNats();
  publishers = await Publishers.connect(broker.url);
  catalog = playCatalog(publishers, () => null);
});
afterEach(async () => {
  await evaluator.stop();
  await catalog.stop();
  await outboxes?.stop();
  outboxes = undefined;
  await publishers.close();
  await broker.close();
});

const start = async (env: Record<string, string> = {}) => {
  const timing = { fenceTimeoutMs: 1_000 };
  const urls = { databaseUrl: db.url, natsUrl: broker.url };
  evaluator = await startTestEvaluator({ ...urls, tokens, env, timing });
};
const sweep = async () => {
  const { sweep: done } = await evaluator.client.runSweep({ waitSeconds: 30 }, as("admin"));
  return done;
};
const dueTable = async () => {
  const { environmentId } = await publishers.environment();
  const { tableId } = await publishers.table({ environmentId });
  await publishers.tableRule(tableId, { case: "days", value: 30 });
  return { tableId, environmentId };
};
const consistent = (tableId: string) =>
  evaluator.client.getTableExpiry({ tableId, consistent: true });
const read = async (tableId: string, at = new Date()) => {
  const body = Buffer.from(JSON.stringify({ tableId, occurredAt: at.toISOString() }));
  await publishers.nats.publish("activity.table.read", body, {}, { msgId: newId() });
};
const issued = () => catalog.due.map(({ tableId }) => tableId);

describe("while NATS is away", () => {
  test("nothing expires and nothing is called due; when it is back, the schedule goes on by itself", async () => {
    await start({ LAPSE_RUN__SWEEP_INTERVAL: "1" });
    await evaluator.client.pauseSweeps({ reason: "" }, as("admin"));
    const { tableId } = await dueTable();
    expect((await consistent(tableId)).expiry?.expiresAt).toBeDefined();
    await broker.stop();
    await evaluator.client.resumeSweeps({}, as("admin"));

    await expect(consistent(tableId)).rejects.toMatchObject({
      kind: "unavailable",
      reason: "BROKER_UNREACHABLE",
    });
    await expect(evaluator.client.confirmTablesDue({ tableIds: [tableId] })).rejects.toMatchObject({
      kind: "unavailable",
    });
    const held = await sweep();
    expect(held).toMatchObject({
      status: SweepStatus.HELD,
      heldReason: "signal_unavailable",
      due: 0,
    });
    const status = await evaluator.client.getEvaluatorStatus({}, as("reader"));
    expect(status.folds.map(({ brokerReachable }) => brokerReachable)).toEqual([
      false,
      false,
      false,
    ]);
    expect(await metricOf(evaluator, "lapse_sweep_held", { reason: "signal_unavailable" })).toBe(1);
    // An answer that need not be consistent is given all the same.
    expect((await evaluator.client.getTableExpiry({ tableId })).expiry?.tableId).toBe(tableId);

    await broker.start();
    await waitFor(() => issued().includes(tableId), { timeoutMs: 30_000 });
    await waitFor(async () => (await metricOf(evaluator, "lapse_sweep_held")) === 0);
  });

  test("T26 an outage is one record and one decision, however often the schedule tries", async () => {
    await start({ LAPSE_RUN__SWEEP_INTERVAL: "1" });
    const { environmentId } = await publishers.environment();
    await consistent((await publishers.table({ environmentId })).tableId);
    await waitFor(
      async () => (await evaluator.client.listSweeps({}, as("reader"))).sweeps.length > 0,
    );
    await broker.stop();
    const attempts = async () => {
      const { rows } = await db.pool.query<{ attempts: number }>(
        `select attempts from sweep where status = 'held' and requested_by = ''`,
      );
      return rows.map((row) => row.attempts);
    };
    await waitFor(async () => ((await attempts())[0] ?? 0) >= 3, { timeoutMs: 30_000 });
    expect(await attempts()).toHaveLength(1);
    const decisions = await decisionsOf(db.pool, "SWEEP_HELD");
    expect(decisions).toMatchObject([{ tenant: "local", actor: "", reason: "signal_unavailable" }]);
    await broker.start();
  });
});

describe("a lost stream", () => {
  test("T26 activity that may have been lost counts as if every table had been used just now", async () => {
    await start();
    const { tableId, environmentId } = await dueTable();
    const inherits = await publishers.table({ environmentId, name: "inherits" });
    await publishers.environmentRule(environmentId, 30);
    await read(tableId, daysAgo(390));
    expect((await consistent(tableId)).expiry?.expiresAt).toBeDefined();

    const before = Date.now();
    await publishers.nats.manager.streams.delete("ACTIVITY");
    await waitFor(
      async () =>
        (await metricOf(evaluator, "lapse_signal_lost_total", { stream: "ACTIVITY" })) > 0,
      {
        timeoutMs: 20_000,
      },
    );
    for (const id of [tableId, inherits.tableId]) {
      const { expiry } = await consistent(id);
      const expiresAt = expiry?.expiresAt && timestampDate(expiry.expiresAt);
      expect(expiresAt?.getTime()).toBeGreaterThan(before + 29 * 86_400_000);
    }
    expect(await sweep()).toMatchObject({ status: SweepStatus.COMPLETED, due: 0 });

    // The proof that it is the floor which keeps them.
    await db.pool.query(`update evaluation_basis set signal_floor_at = null`);
    await db.pool.query(
      `update table_state set own_due_at = last_activity_at + interval '30 days' where rule_kind = 'days'`,
    );
    expect(await sweep()).toMatchObject({ due: 2 });
  });

  test("a consumer that is deleted loses nothing: the fold goes on from its own position", async () => {
    await start();
    const { tableId } = await dueTable();
    await read(tableId, daysAgo(9));
    await consistent(tableId);
    await publishers.nats.manager.consumers.delete("ACTIVITY", "lifecycle-evaluator-activity");
    const at = daysAgo(3);
    await read(tableId, at);
    const latest = await waitFor(
      async () => {
        const { expiry } = await consistent(tableId);
        const seen = expiry?.lastActivityAt && timestampDate(expiry.lastActivityAt);
        return seen?.getTime() === at.getTime() && seen;
      },
      { timeoutMs: 20_000 },
    );
    expect(latest).toEqual(at);
    const { days } = await evaluator.client.getTableReads({ tableId }, as("reader"));
    expect(days.map(({ reads }) => reads)).toEqual([1n, 1n]);
    expect(await metricOf(evaluator, "lapse_signal_lost_total", { stream: "ACTIVITY" })).toBe(0);
  });

  test("a catalog stream that is wiped is read anew from the catalog's outbox", async () => {
    outboxes = await serveOutboxes(publishers, tokens);
    await start(outboxes.env);
    const { tableId, environmentId } = await dueTable();
    await consistent(tableId);
    await evaluator.stop();
    // Said while nobody listens, and gone before anybody does.
    const { tableId: unheard } = await publishers.table({ environmentId, name: "unheard" });
    await publishers.nats.manager.streams.delete("CATALOG");
    await start(outboxes.env);
    const found = await waitFor(() => evaluator.client.getTableExpiry({ tableId: unheard }), {
      timeoutMs: 20_000,
    });
    expect(found.expiry?.name).toBe("unheard");
  });
});

describe("a missing event", () => {
  test("T26 holds the sweeps until its publisher has said it again", async () => {
    await start();
    const { tableId, environmentId } = await dueTable();
    const changed = {
      table: tableInit({
        tableId,
        environmentId,
        changeVersion: 2n,
        lastChangedAt: timestampFromDate(daysAgo(1)),
      }),
      change: TableChange.WRITTEN,
    };
    await publishers.say("CATALOG", "catalog.table.changed", TableChangedSchema, changed, {
      lost: true,
    });
    await publishers.table({ environmentId, name: "another" });
    await waitFor(async () => (await missingRanges(db.pool)).length > 0);

    expect(await sweep()).toMatchObject({ status: SweepStatus.HELD, heldReason: "signal_missing" });
    await expect(evaluator.client.confirmTablesDue({ tableIds: [tableId] })).rejects.toMatchObject({
      kind: "unavailable",
      reason: "SIGNAL_MISSING",
    });
    await expect(evaluator.client.runSweep({ dryRun: true }, as("admin"))).rejects.toMatchObject({
      reason: "SIGNAL_MISSING",
    });
    const { folds } = await evaluator.client.getEvaluatorStatus({}, as("reader"));
    expect(folds.find(({ stream }) => stream === "CATALOG")?.missing).toBe(1n);
    await evaluator.stop();

    outboxes = await serveOutboxes(publishers, tokens);
    await start(outboxes.env);
    await waitFor(async () => (await missingRanges(db.pool)).length === 0, { timeoutMs: 20_000 });
    // What was missing is that the table was written yesterday.
    expect(await sweep()).toMatchObject({ status: SweepStatus.COMPLETED, due: 0 });
    expect(issued()).toEqual([]);
  });

  test("an event that is merely on its way holds nothing", async () => {
    await start();
    const { tableId, environmentId } = await dueTable();
    const late = await publishers.say(
      "CATALOG",
      "catalog.environment.changed",
      EnvironmentChangedSchema,
      { environment: { environmentId, tenant: "local", name: "dev", changeVersion: 2n } },
      { lost: true },
    );
    await publishers.table({ environmentId, name: "another" });
    await waitFor(async () => (await missingRanges(db.pool)).length > 0);
    const confirming = evaluator.client.confirmTablesDue({ tableIds: [tableId] });
    await publishers.publish(late);
    const { confirmations } = await confirming;
    expect(confirmations).toMatchObject([{ tableId, due: true }]);
  });
});
