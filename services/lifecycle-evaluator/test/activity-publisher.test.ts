import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { listParked, newId } from "@lapse/kit";
import { ActivityPublisher } from "@lapse/sdk";
import { type TestNats, testNats, testTokens } from "@lapse/test-kit";
import { connect, type NatsConnection } from "nats";
import { type LabDatabase, labDatabase } from "./lab/database.ts";
import { as, type Evaluator, startTestEvaluator } from "./lab/evaluator.ts";
import { daysAgo, Publishers } from "./lab/publishers.ts";

// What a service that knows nothing of Lapse but its SDK tells, as the evaluator hears it.

let db: LabDatabase;
let broker: TestNats;
let evaluator: Evaluator;
let publishers: Publishers;
let outside: NatsConnection;
let publisher: ActivityPublisher;

beforeAll(async () => {
  db = await labDatabase("publisher");
  broker = await testNats();
  publishers = await Publishers.connect(broker.url);
  evaluator = await startTestEvaluator({
    databaseUrl: db.url,
    natsUrl: broker.url,
    tokens: testTokens(),
  });
  outside = await connect({ servers: broker.url });
}, 60_000);
beforeEach(() => {
  publisher = new ActivityPublisher(outside, { source: "träno 1", maxEvents: 100 });
});
afterAll(async () => {
  await outside.close();
  await evaluator.stop();
  await publishers.close();
  await broker.close();
  await db.close();
});

const lastActivity = async (tableId: string) => {
  const { expiry } = await evaluator.client.getTableExpiry({ tableId, consistent: true });
  const at = expiry?.lastActivityAt;
  return { at: at && timestampDate(at), kind: expiry?.lastActivityKind };
};
const reads = async (tableId: string) => {
  const { days } = await evaluator.client.getTableReads({ tableId }, as("reader"));
  return days.map(({ day, source, reads: count }) => [day, source, count]);
};
const midnight = (at: Date) => new Date(`${at.toISOString().slice(0, 10)}T00:00:00.000Z`);

test("T14 T17 every read counts, on its own day and for its source", async () => {
  const { tableId } = await publishers.table();
  const today = midnight(daysAgo(1));
  const before = new Date(today.getTime() - 1);
  await Promise.all([
    ...Array.from({ length: 250 }, () => publisher.tableRead({ tableId, occurredAt: before })),
    ...Array.from({ length: 30 }, () => publisher.tableRead({ tableId, occurredAt: today })),
  ]);
  expect(await lastActivity(tableId)).toEqual({ at: today, kind: "read" });
  expect(await reads(tableId)).toEqual([
    [today.toISOString().slice(0, 10), "träno 1", 30n],
    [before.toISOString().slice(0, 10), "träno 1", 250n],
  ]);
});

test("T13 T14 of several changes the latest counts, whatever their order", async () => {
  const tables = await Promise.all(["a", "b", "c"].map((name) => publishers.table({ name })));
  const [latest, earlier] = [midnight(daysAgo(0)), midnight(daysAgo(1))];
  const ids = tables.map(({ tableId }) => tableId);
  const [written = "", maintained = "", changed = ""] = ids;
  for (const occurredAt of [earlier, latest, earlier]) {
    void publisher.tableWritten({ tableId: written, occurredAt });
    void publisher.tableMaintained({ tableId: maintained, occurredAt });
    void publisher.tableChanged({ tableId: changed, occurredAt, actor: "ana" });
  }
  await publisher.flush();
  expect(await lastActivity(written)).toEqual({ at: latest, kind: "written" });
  expect(await lastActivity(maintained)).toEqual({ at: latest, kind: "maintained" });
  expect(await lastActivity(changed)).toEqual({ at: latest, kind: "changed" });
  expect(await reads(written)).toEqual([]);
});

test("T14 a table is found by its name; one that nobody knows is set aside alone", async () => {
  const { environmentId } = await publishers.environment({ name: "named" });
  const { tableId } = await publishers.table({ environmentId, namespace: "bronze.räw", name: "x" });
  await lastActivity(tableId);
  const occurredAt = midnight(daysAgo(0));
  const table = "bronze.räw.x";
  await Promise.all([
    publisher.tableRead({ environment: "named", table, tenant: "local", occurredAt }),
    publisher.tableRead({ environment: "named", table: `gone.${newId()}`, occurredAt }),
  ]);
  expect(await lastActivity(tableId)).toEqual({ at: occurredAt, kind: "read" });
  const { items } = await listParked(publishers.nats, { stream: "ACTIVITY" });
  expect(items.map(({ reason }) => reason)).toEqual([expect.stringMatching(/1 of 2 activities/)]);
});
