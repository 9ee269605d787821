import { create, toBinary } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
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
import { listParked, newId, retryParked } from "@lapse/kit";
import { ActivityBatchSchema, TableActivitySchema, TableChange } from "@lapse/proto/events";
import { type TestNats, testNats, testTokens, waitFor } from "@lapse/test-kit";
import { type LabDatabase, labDatabase } from "./lab/database.ts";
import { as, type Evaluator, metricOf, startTestEvaluator } from "./lab/evaluator.ts";
import { daysAgo, Publishers } from "./lab/publishers.ts";

let db: LabDatabase;
let broker: TestNats;
let evaluator: Evaluator;
let publishers: Publishers;
const tokens = testTokens();
jest.setTimeout(60_000);

beforeAll(async () => {
  db = await labDatabase("fold");
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.clear();
  broker = await testNats();
  publishers = await Publishers.connect(broker.url);
  evaluator = await startTestEvaluator({ databaseUrl: db.url, natsUrl: broker.url, tokens });
});
afterEach(async () => {
  await evaluator.stop();
  await publishers.close();
  await broker.close();
});

const expiry = async (tableId: string) => {
  const answer = await evaluator.client.getTableExpiry({ tableId, consistent: true });
  return answer.expiry;
};
const lastActivity = async (tableId: string) => {
  const found = await expiry(tableId);
  return found?.lastActivityAt && timestampDate(found.lastActivityAt);
};
/**
 * As an outside client does, which knows nothing of Lapse but its subjects: a body, and at most a content
 * type.
 */
const publish = async (subject: string, body: Uint8Array | string, contentType?: string) => {
  const { nats } = publishers;
  if (contentType === undefined) await nats.connection.jetstream().publish(subject, body);
  else
    await nats.publish(
      subject,
      Buffer.from(body),
      { "Content-Type": contentType },
      { msgId: newId() },
    );
};
const aTable = async (name = "trial") => {
  const environment = await publishers.environment();
  return publishers.table({ environmentId: environment.environmentId, name });
};
const parked = async () => (await listParked(publishers.nats, { stream: "ACTIVITY" })).items;

const WHEN = new Date(Math.floor(Date.now() / 1000) * 1000 - 3_600_000);

describe("activity from outside", () => {
  test("T14 is read from JSON of a plain client", async () => {
    const { tableId } = await aTable();
    await publish(
      "activity.table.read",
      JSON.stringify({ table_id: tableId, occurred_at: WHEN.toISOString(), source: "trino" }),
    );
    expect(await lastActivity(tableId)).toEqual(WHEN);
    expect((await expiry(tableId))?.lastActivityKind).toBe("read");
  });

  test("T14 is read from protobuf without a single header, and by a table's name", async () => {
    const { tableId } = await aTable("events");
    const body = toBinary(
      TableActivitySchema,
      create(TableActivitySchema, {
        table: { environment: "dev", name: "bronze.events" },
        occurredAt: timestampFromDate(WHEN),
      }),
    );
    await publish("activity.table.written", body);
    expect(await lastActivity(tableId)).toEqual(WHEN);
    expect((await expiry(tableId))?.lastActivityKind).toBe("written");
  });

  test("T14 is read from a structured CloudEvent, with its sender as the source", async () => {
    const { tableId } = await aTable();
    await publish(
      "activity.table.read",
      JSON.stringify({
        specversion: "1.0",
        id: newId(),
        type: "com.example.read",
        source: "https://spark.example",
        data: { tableId, occurredAt: WHEN.toISOString() },
      }),
    );
    expect(await lastActivity(tableId)).toEqual(WHEN);
    const reads = await evaluator.client.getTableReads({ tableId }, as("reader"));
    expect(reads.sources.map(({ source }) => source)).toEqual(["https://spark.example"]);
    expect(reads.days).toMatchObject([{ day: WHEN.toISOString().slice(0, 10), reads: 1n }]);
  });

  test("T14 T17 is read from batches, in protobuf and in JSON, each activity counted once", async () => {
    const { tableId } = await aTable();
    const occurredAt = timestampFromDate(WHEN);
    const events = Array.from({ length: 40 }, () => ({ tableId, occurredAt, source: "trino" }));
    await publish(
      "activity.table.read",
      toBinary(ActivityBatchSchema, create(ActivityBatchSchema, { events })),
    );
    await publish(
      "activity.table.read",
      JSON.stringify({ events: [{ tableId, occurredAt: WHEN.toISOString(), source: "trino" }] }),
      "application/json",
    );
    expect(await lastActivity(tableId)).toEqual(WHEN);
    const { days } = await evaluator.client.getTableReads({ tableId }, as("reader"));
    expect(days.map(({ reads }) => reads)).toEqual([41n]);
    expect(await metricOf(evaluator, "lapse_events_folded_total", { stream: "ACTIVITY" })).toBe(2);
  });

  test("T14 that does not say when it happened counts from when the broker stored it", async () => {
    const { tableId } = await aTable();
    const before = Date.now();
    await publish("activity.table.maintained", JSON.stringify({ tableId }));
    const at = (await lastActivity(tableId))?.getTime() ?? 0;
    expect(at).toBeGreaterThanOrEqual(before - 1_000);
    expect(at).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  test("T14 for the future counts as now, and is counted as such", async () => {
    const { tableId } = await aTable();
    const body = create(TableActivitySchema, {
      tableId: tableId.toUpperCase(),
      occurredAt: timestampFromMs(Date.now() + 3_600_000),
    });
    await publish("activity.table.read", toBinary(TableActivitySchema, body));
    expect((await lastActivity(tableId))?.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(await metricOf(evaluator, "lapse_activity_clamped_total")).toBe(1);
  });

  test.each([
    [
      "is not a message at all",
      "activity.table.read",
      Uint8Array.of(0x0a, 0xff, 0xff),
      "EVENT_UNREADABLE",
    ],
    ["names no table", "activity.table.read", "{}", "names no table"],
    ["has a malformed id", "activity.table.read", '{"tableId":"seven"}', "table_id is not an id"],
    [
      "has an unknown name",
      "activity.table.read",
      '{"table":{"environment":"dev","name":"bronze.gone"}}',
      "no live table of that name",
    ],
    [
      "has a time no calendar has",
      "activity.table.read",
      '{"tableId":"x","occurredAt":"2026-13-01T00:00:00Z"}',
      "EVENT_UNREADABLE",
    ],
    ["says what nothing can do", "activity.table.painted", "{}", "painted"],
  ])(
    "that %s is parked with the reason, and its neighbours count",
    async (_what, subject, body, reason) => {
      const { tableId } = await aTable();
      await publish(subject, body);
      await publish(
        "activity.table.read",
        JSON.stringify({ tableId, occurredAt: WHEN.toISOString() }),
      );
      expect(await lastActivity(tableId)).toEqual(WHEN);
      const [message, ...others] = await parked();
      expect(message?.reason).toContain(reason);
      expect(others).toEqual([]);
    },
  );

  test("a batch of more than 10,000 is parked whole; one of 10,000 counts", async () => {
    const { tableId } = await aTable();
    const batch = (count: number) =>
      toBinary(
        ActivityBatchSchema,
        create(ActivityBatchSchema, {
          events: Array.from({ length: count }, () => ({
            tableId,
            occurredAt: timestampFromDate(WHEN),
          })),
        }),
      );
    await publish("activity.table.read", batch(10_001));
    await publish("activity.table.read", batch(10_000));
    expect(await lastActivity(tableId)).toEqual(WHEN);
    const { days } = await evaluator.client.getTableReads({ tableId }, as("reader"));
    expect(days.map(({ reads }) => reads)).toEqual([10_000n]);
    expect((await parked()).map(({ reason }) => reason)).toEqual([
      expect.stringContaining("10000"),
    ]);
  });

  test("T17 of a batch only what could not be counted is parked, so the rest does not count again when it is tried again", async () => {
    const environment = await publishers.environment();
    const { tableId } = await publishers.table({ environmentId: environment.environmentId });
    const occurredAt = WHEN.toISOString();
    await publish(
      "activity.table.read",
      JSON.stringify({
        events: [
          { tableId, occurredAt },
          { table: { environment: "dev", name: "bronze.later" } },
          { tableId, occurredAt },
        ],
      }),
      "application/json",
    );
    const [message] = await waitFor(async () => {
      const items = await parked();
      return items.length > 0 ? items : undefined;
    });
    expect(message?.reason).toContain("1 of 3 activities");
    const later = await publishers.table({
      environmentId: environment.environmentId,
      name: "later",
    });
    await waitFor(() => expiry(later.tableId));
    const stored = (await lastActivity(tableId))?.getTime();
    await retryParked(publishers.nats, message?.sequence ?? 0n);
    await waitFor(async () => (await expiry(later.tableId))?.lastActivityKind === "read");
    expect((await lastActivity(tableId))?.getTime()).toBe(stored);
    const readsOf = async (id: string) => {
      const { days } = await evaluator.client.getTableReads({ tableId: id }, as("reader"));
      return days.map(({ reads }) => reads);
    };
    expect(await readsOf(tableId)).toEqual([2n]);
    expect(await readsOf(later.tableId)).toEqual([1n]);
  });

  test("activity on files is passed over, and holds nothing up", async () => {
    const { tableId } = await aTable();
    await publish("activity.file.written", Uint8Array.of(1, 2, 3));
    await publish(
      "activity.table.read",
      JSON.stringify({ tableId, occurredAt: WHEN.toISOString() }),
    );
    expect(await lastActivity(tableId)).toEqual(WHEN);
    expect(await parked()).toEqual([]);
  });

  test("a name that becomes known is no loss: what was parked counts when it is tried again", async () => {
    const environment = await publishers.environment();
    await publish(
      "activity.table.read",
      JSON.stringify({
        table: { environment: "dev", name: "bronze.later" },
        occurredAt: WHEN.toISOString(),
      }),
    );
    const [message] = await waitFor(async () => {
      const items = await parked();
      return items.length > 0 ? items : undefined;
    });
    const { tableId } = await publishers.table({
      environmentId: environment.environmentId,
      name: "later",
    });
    await waitFor(() => expiry(tableId));
    await retryParked(publishers.nats, message?.sequence ?? 0n);
    expect(await lastActivity(tableId)).toEqual(WHEN);
  });
});

describe("events of the catalog and of retention-policy", () => {
  test("an event of the catalog that cannot be used is parked, and its neighbours count", async () => {
    const environment = await publishers.environment();
    await publish("catalog.table.created", Uint8Array.of(0xff));
    const { tableId } = await publishers.table({ environmentId: environment.environmentId });
    expect(await lastActivity(tableId)).toBeDefined();
    const { items } = await listParked(publishers.nats, { stream: "CATALOG" });
    expect(items).toHaveLength(1);
  });

  test("T5 a change of the catalog is activity, one of its state alone is not", async () => {
    const table = await aTable();
    const changedAt = daysAgo(2);
    const changed = { ...table, lastChangedAt: timestampFromDate(changedAt) };
    await publishers.changed({ ...changed, changeVersion: 2n }, TableChange.TOUCHED);
    await publishers.changed({ ...changed, changeVersion: 3n }, TableChange.STATE);
    const found = await expiry(table.tableId);
    expect(found?.lastActivityAt && timestampDate(found.lastActivityAt)).toEqual(changedAt);
    expect(found?.lastActivityKind).toBe("changed");
  });

  test("T2 the rule in force is shown with who set it and when", async () => {
    const table = await aTable();
    await publishers.tableRule(table.tableId, { case: "days", value: 500 }, { setAt: daysAgo(3) });
    expect(await expiry(table.tableId)).toMatchObject({
      source: "table",
      rule: { rule: { case: "days", value: 500 } },
      setBy: "ana",
      expiresSoon: false,
      kept: "",
    });
  });
});
