import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import {
  type Consumer,
  type ConsumerOptions,
  createMetrics,
  invalid,
  listParked,
  type Metrics,
  type Nats,
  startConsumer,
  unavailable,
} from "../src/index.ts";
import {
  collect,
  encodeActivity,
  idOf,
  numbered,
  publishActivity,
  READ,
} from "./support/activity.ts";
import { gate } from "./support/gate.ts";
import { kitNats, log, metricValue } from "./support/setup.ts";

let broker: Awaited<ReturnType<typeof kitNats>>;
let nats: Nats;
let metrics: Metrics;
let consumers: Consumer[] = [];
let durable: string;
let tests = 0;

beforeAll(async () => {
  broker = await kitNats();
  nats = broker.nats;
});
afterAll(() => broker.close());
beforeEach(async () => {
  await broker.server.start();
  await nats.whenConnected();
  metrics = createMetrics("test");
  durable = `test-${++tests}`;
  await nats.manager.streams.purge("ACTIVITY");
  await nats.manager.streams.purge("PARKED");
});
afterEach(async () => {
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  consumers = [];
});

const publish = (ids: readonly string[], subject?: string) => publishActivity(nats, ids, subject);

type Overrides = Partial<ConsumerOptions> & Pick<ConsumerOptions, "handle">;
function start(overrides: Overrides): Consumer {
  const consumer = startConsumer({ nats, stream: "ACTIVITY", durable, log, metrics, ...overrides });
  consumers.push(consumer);
  return consumer;
}

const info = () => nats.manager.consumers.info("ACTIVITY", durable);
const allAcked = async () => {
  const { num_pending, num_ack_pending } = await info();
  return num_pending === 0 && num_ack_pending === 0;
};

const someParked = () =>
  waitFor(async () => {
    const { items } = await listParked(nats);
    return items.length > 0 ? items : undefined;
  });

describe("startConsumer", () => {
  test("delivers what was published before and after its start, in order, and acknowledges it", async () => {
    const { seen, handle } = collect();
    await publish(numbered(0, 3));
    start({ handle });
    await waitFor(() => seen.length === 3);
    await publish(numbered(3, 2));
    await waitFor(() => seen.length === 5);
    expect(seen).toEqual(numbered(0, 5));
    await waitFor(allAcked);
    expect(await metricValue(metrics, "lapse_consumer_processed_total")).toBe(5);
    expect(await metricValue(metrics, "lapse_consumer_redelivered_total")).toBe(0);
  });

  test("its consumer has the ack wait it asked for, no back-off that replaces it, and no end of deliveries", async () => {
    start({ handle: async () => {}, ackWaitMs: 30_000 });
    const { config } = await waitFor(info);
    expect(config.ack_wait).toBe(30_000_000_000);
    expect(config.backoff).toBeUndefined();
    expect(config.max_deliver).toBe(-1);
    expect(config.ack_policy).toBe("explicit");
    expect(config.max_ack_pending).toBeGreaterThan(0);
  });

  test("takes at most a batch at a time", async () => {
    const sizes: number[] = [];
    await publish(numbered(0, 25));
    start({
      batch: 10,
      handle: async (deliveries) => {
        sizes.push(deliveries.length);
      },
    });
    await waitFor(() => sizes.reduce((sum, size) => sum + size, 0) === 25);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10);
  });

  test("with several filters it gets those subjects only and the others count as dealt with", async () => {
    const subjects: string[] = [];
    await publish(["a"], "activity.table.read");
    await publish(["b"], "activity.table.written");
    await publish(["c"], "activity.file.written");
    start({
      filterSubjects: ["activity.table.read", "activity.file.*"],
      handle: async (deliveries) => {
        subjects.push(...deliveries.map(({ subject }) => subject));
      },
    });
    await waitFor(() => subjects.length === 2);
    expect(subjects).toEqual(["activity.table.read", "activity.file.written"]);
    await waitFor(allAcked);
  });

  test("two replicas share the messages; each comes once", async () => {
    const { seen, handle } = collect();
    start({ handle, batch: 5 });
    start({ handle, batch: 5 });
    await publish(numbered(0, 100));
    await waitFor(() => seen.length === 100);
    expect(new Set(seen).size).toBe(100);
  });

  test("batches run side by side up to the concurrency asked for", async () => {
    let running = 0;
    let most = 0;
    const { opened, open } = gate();
    await publish(numbered(0, 6));
    start({
      batch: 1,
      concurrency: 3,
      handle: async () => {
        most = Math.max(most, ++running);
        await opened;
        running--;
      },
    });
    await waitFor(() => running === 3);
    open();
    await waitFor(allAcked);
    expect(most).toBe(3);
  });

  test("passed says whether everything up to a place in the stream is dealt with", async () => {
    const { opened, open } = gate();
    await publish(["a"]);
    const { last_seq } = (await nats.manager.streams.info("ACTIVITY")).state;
    const consumer = start({ handle: () => opened });
    await waitFor(async () => (await info()).num_ack_pending === 1);
    expect(await consumer.passed(BigInt(last_seq))).toBe(false);
    open();
    await waitFor(() => consumer.passed(BigInt(last_seq)));
  });
});

describe("a failing handler", () => {
  test("is tried again until what it needs is back, without the deliveries being counted", async () => {
    let away = true;
    let calls = 0;
    const counts: number[] = [];
    await publish(numbered(0, 3));
    start({
      handle: async (deliveries) => {
        calls++;
        if (away) throw unavailable("EVALUATOR_BEHIND", "later");
        counts.push(...deliveries.map(({ deliveryCount }) => deliveryCount));
      },
      ackWaitMs: 1_000,
    });
    const started = performance.now();
    // Well beyond the ack wait: the messages are kept by saying so.
    await waitFor(() => calls > 4 && performance.now() - started > 2_500);
    away = false;
    await waitFor(() => counts.length === 3);
    expect(counts).toEqual([1, 1, 1]);
    expect((await listParked(nats)).items).toEqual([]);
  });

  test("for one message keeps no neighbour back, and the message is done once it can be", async () => {
    let away = true;
    const seen: string[] = [];
    await publish(["bad", ...numbered(0, 20)]);
    start({
      batch: 10,
      handle: async (deliveries) => {
        if (away && deliveries.some((each) => idOf(each) === "bad")) {
          throw unavailable("DEPENDENCY_UNAVAILABLE", "its database is away");
        }
        seen.push(...deliveries.map(idOf));
      },
    });
    await waitFor(() => seen.length === 20);
    expect(seen).toEqual(numbered(0, 20));
    away = false;
    await waitFor(() => seen.includes("bad"));
  });

  test("parks an invalid message at once, with its reason, and lets the others through", async () => {
    const seen: string[] = [];
    await publish(["a", "poison", "b"]);
    start({
      handle: async (deliveries) => {
        if (deliveries.some((each) => idOf(each) === "poison")) {
          throw invalid("EVENT_UNREADABLE", "no such table “ä”");
        }
        seen.push(...deliveries.map(idOf));
      },
    });
    await waitFor(() => seen.length === 2);
    expect(seen).toEqual(["a", "b"]);
    const [parked] = await someParked();
    expect(parked).toMatchObject({
      reason: "EVENT_UNREADABLE: no such table “ä”",
      consumer: durable,
      stream: "ACTIVITY",
      subject: READ,
      deliveries: 1,
      headers: { "ce-id": "poison" },
    });
    await waitFor(allAcked);
    expect(await metricValue(metrics, "lapse_parked_total")).toBe(1);
  });

  test("parks a message that fails for no known reason after five deliveries", async () => {
    let calls = 0;
    await publish(["poison"]);
    start({
      handle: async () => {
        calls++;
        throw new Error("a bug");
      },
      firstDelayMs: 20,
    });
    const [parked] = await someParked();
    expect(parked?.deliveries).toBe(5);
    expect(calls).toBe(5);
    await waitFor(allAcked);
  });

  test("parks what cannot even be read, without the handler", async () => {
    const { seen, handle } = collect();
    await nats.publish(
      READ,
      encodeActivity("x"),
      { "ce-specversion": "1.0", "ce-subject": "%FF" },
      { msgId: "unreadable" },
    );
    await publish(["a"]);
    start({ handle });
    await waitFor(() => seen.length === 1);
    const items = await someParked();
    expect(items[0]?.reason).toMatch(/^EVENT_UNREADABLE: /);
    await waitFor(allAcked);
  });

  test("parks what the handler names and acknowledges the rest", async () => {
    await publish(["a", "b"]);
    start({
      handle: async (deliveries) => ({
        parked: deliveries
          .filter((each) => idOf(each) === "b")
          .map((delivery) => ({ delivery, reason: "HANDLER_SAID_SO" })),
      }),
    });
    await waitFor(allAcked);
    const { items } = await listParked(nats);
    expect(items.map(({ reason, headers }) => [reason, headers["ce-id"]])).toEqual([
      ["HANDLER_SAID_SO", "b"],
    ]);
  });
});
