import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import {
  type Consumer,
  connectNats,
  createMetrics,
  ensureStreams,
  type Nats,
  newId,
  startConsumer,
} from "@lapse/kit";
import { ActivityPublisher } from "@lapse/sdk";
import { type TestNats, testNats, waitFor } from "@lapse/test-kit";
import { connect, type NatsConnection } from "nats";
import { type ActivityTally, tally, tallyRead } from "../src/domain/activity.ts";
import type { ActivityMessage, ReportedActivity } from "../src/domain/activity-message.ts";
import { readActivityMessage } from "../src/events/activity-message.ts";
import { quiet } from "./lab/database.ts";

let broker: TestNats;
let nats: Nats;
/** Of a service that knows nothing of Lapse but its SDK. */
let outside: NatsConnection;
let consumer: Consumer | undefined;
const metrics = createMetrics("test");

beforeAll(async () => {
  broker = await testNats();
  nats = await connectNats({ url: broker.url, name: "test", log: quiet, metrics });
  await ensureStreams(nats, { log: quiet });
  outside = await connect({ servers: broker.url });
});
afterEach(async () => {
  await consumer?.stop();
});
afterAll(async () => {
  await outside.close();
  await nats.close();
  await broker.close();
});

/** What the evaluator's reader makes of everything that was published. */
async function readAll(uses: number): Promise<ActivityMessage[]> {
  const messages: ActivityMessage[] = [];
  consumer = startConsumer({
    nats,
    stream: "ACTIVITY",
    durable: `test-${newId()}`,
    log: quiet,
    metrics,
    handle: async (deliveries) => {
      for (const delivery of deliveries) {
        const message = readActivityMessage(delivery);
        if (message) messages.push(message);
      }
    },
  });
  const count = () => messages.reduce((sum, { activities }) => sum + activities.length, 0);
  await waitFor(() => count() >= uses);
  return messages;
}

test("T14 T17 the evaluator reads every use that the SDK's publisher tells, and counts the reads of each day", async () => {
  const publisher = new ActivityPublisher(outside, { source: "träno", maxEvents: 100 });
  const [a, b] = [newId(), newId()];
  const today = new Date("2026-11-30T23:59:59.999Z");
  const tomorrow = new Date("2026-12-01T00:00:00.000Z");
  const told = [
    ...Array.from({ length: 250 }, () => publisher.tableRead({ tableId: a, occurredAt: today })),
    ...Array.from({ length: 30 }, () => publisher.tableRead({ tableId: a, occurredAt: tomorrow })),
    publisher.tableWritten({ tableId: b, occurredAt: today }),
    publisher.tableWritten({ tableId: b, occurredAt: tomorrow, actor: "" }),
    publisher.tableMaintained({ environment: "dev", table: "bronze.trial", tenant: "acme" }),
    publisher.tableChanged({ environment: "dev", table: "bronze.räw.trial" }),
  ];
  await Promise.all(told);

  const messages = await readAll(283);
  const all: ActivityTally = new Map();
  const named: [string, ReportedActivity["table"]][] = [];
  for (const { kind, sender, activities } of messages) {
    expect(sender).toBe("träno");
    for (const { tableId, table, occurredAt, source } of activities) {
      const at = occurredAt ?? Number.NaN;
      expect(at).toBeGreaterThan(0);
      if (table) named.push([kind, table]);
      else if (kind === "read") tallyRead(all, { tableId, at, source: source || sender });
      else tally(all, { tableId, kind, at });
    }
  }
  expect(all.get(a)?.reads).toEqual([
    { day: "2026-11-30", source: "träno", reads: 250, lastAt: today.getTime() },
    { day: "2026-12-01", source: "träno", reads: 30, lastAt: tomorrow.getTime() },
  ]);
  expect(all.get(b)).toMatchObject({
    lastActivityAt: tomorrow.getTime(),
    lastActivityKind: "written",
    lastReadAt: null,
  });
  expect(named).toEqual(
    expect.arrayContaining([
      ["maintained", { tenant: "acme", environment: "dev", name: "bronze.trial" }],
      ["changed", { tenant: "", environment: "dev", name: "bronze.räw.trial" }],
    ]),
  );
});
