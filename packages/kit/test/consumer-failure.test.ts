import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import {
  type Consumer,
  type ConsumerOptions,
  createMetrics,
  ensureStreams,
  listParked,
  type Metrics,
  type Nats,
  startConsumer,
  unavailable,
} from "../src/index.ts";
import { pull } from "../src/pull.ts";
import type { PulledMessage } from "../src/pulled-message.ts";
import { collect, idOf, numbered, publishActivity } from "./support/activity.ts";
import { type Gate, gate } from "./support/gate.ts";
import { kitNats, log, metricValue } from "./support/setup.ts";

let broker: Awaited<ReturnType<typeof kitNats>>;
let nats: Nats;
let metrics: Metrics;
let consumers: Consumer[] = [];
let durable: string;
let tests = 0;
const gates: Gate[] = [];

/** Opened at the end of the test, whatever became of it. */
function newGate(): Gate {
  const made = gate();
  gates.push(made);
  return made;
}

beforeAll(async () => {
  broker = await kitNats();
  nats = broker.nats;
});
afterAll(() => broker.close());
beforeEach(async () => {
  metrics = createMetrics("test");
  durable = `failing-${++tests}`;
  await nats.manager.streams.purge("ACTIVITY");
  await nats.manager.streams.purge("PARKED");
});
afterEach(async () => {
  for (const { open } of gates.splice(0)) open();
  await broker.server.start();
  await nats.whenConnected();
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  consumers = [];
});

type Overrides = Partial<ConsumerOptions> & Pick<ConsumerOptions, "handle">;
function start(overrides: Overrides): Consumer {
  const consumer = startConsumer({ nats, stream: "ACTIVITY", durable, log, metrics, ...overrides });
  consumers.push(consumer);
  return consumer;
}

const info = () => nats.manager.consumers.info("ACTIVITY", durable);
const publish = (ids: readonly string[]) => publishActivity(nats, ids);

describe("a broker that goes away", () => {
  test("killed and started again, it delivers on within 5 s and nothing is lost", async () => {
    const { seen, handle } = collect();
    start({ handle });
    await publish(numbered(0, 50));
    await waitFor(() => seen.length >= 50);
    await broker.server.kill();
    await waitFor(() => !nats.connected);
    await broker.server.start();
    await nats.whenConnected();
    const back = performance.now();
    await publish(numbered(50, 50));
    await waitFor(() => seen.includes("t99"));
    expect(performance.now() - back).toBeLessThan(5_000);
    expect([...new Set(seen)]).toEqual(numbered(0, 100));
  });

  test("before the start of a consumer, it finds the consumer waiting for it", async () => {
    await broker.server.stop();
    await waitFor(() => !nats.connected);
    const { seen, handle } = collect();
    start({ handle });
    await broker.server.start();
    await nats.whenConnected();
    await publish(["a"]);
    await waitFor(() => seen.length === 1);
  });

  test("while a batch is handled, the batch is delivered again and the effect has to be idempotent", async () => {
    const { opened, open } = newGate();
    const seen: string[] = [];
    start({
      ackWaitMs: 2_000,
      handle: async (deliveries) => {
        seen.push(...deliveries.map(idOf));
        if (seen.length === 1) await opened;
      },
    });
    await publish(["a"]);
    await waitFor(() => seen.length === 1);
    await broker.server.kill();
    await waitFor(() => !nats.connected);
    open();
    await broker.server.start();
    await nats.whenConnected();
    await publish(["b"]);
    await waitFor(() => seen.includes("b"));
    await waitFor(async () => (await info()).num_ack_pending === 0);
    expect(new Set(seen)).toEqual(new Set(["a", "b"]));
  });
});

describe("a consumer that was deleted", () => {
  test("is made again where it was, not from the first message", async () => {
    const { seen, handle } = collect();
    start({ handle });
    await publish(numbered(0, 20));
    await waitFor(() => seen.length === 20);
    await waitFor(async () => (await info()).num_ack_pending === 0);
    const { ack_floor } = await info();
    // It looks every five seconds how far it is, and sets the lag when it does.
    metrics.gauge("lapse_consumer_lag", "", ["consumer"]).set({ consumer: durable }, 99);
    await waitFor(async () => (await metricValue(metrics, "lapse_consumer_lag")) === 0);
    await nats.manager.consumers.delete("ACTIVITY", durable);
    await publish(["after"]);
    await waitFor(() => seen.includes("after"));
    expect(seen).toEqual([...numbered(0, 20), "after"]);
    expect((await info()).config.opt_start_seq).toBe(ack_floor.stream_seq + 1);
    expect(await metricValue(metrics, "lapse_consumer_restarted_total")).toBeGreaterThan(0);
  });
});

describe("a stream that was wiped", () => {
  test("is made again and consumed from its first message", async () => {
    const { seen, handle } = collect();
    start({ handle });
    await publish(numbered(0, 5));
    await waitFor(() => seen.length === 5);
    await nats.manager.streams.delete("ACTIVITY");
    await waitFor(() => nats.manager.streams.info("ACTIVITY").then(() => true));
    await publish(["new"]);
    await waitFor(() => seen.includes("new"));
  });

  test("gets no answers meant for messages of the old one", async () => {
    await nats.manager.streams.delete("ACTIVITY");
    await ensureStreams(nats);
    let away = true;
    const seen: string[] = [];
    start({
      batch: 1,
      handle: async (deliveries) => {
        if (away) throw unavailable("DEPENDENCY_UNAVAILABLE", "later");
        seen.push(...deliveries.map(idOf));
      },
    });
    await publish(["old"]);
    await waitFor(async () => (await info()).num_ack_pending === 1);
    await nats.manager.streams.delete("ACTIVITY");
    await waitFor(info);
    // Under the same number as the old one, in the hand of somebody who has not handled it.
    await publish(["new"]);
    const request = { stream: "ACTIVITY", consumer: durable, batch: 1, waitMs: 1_000 };
    const { messages } = await pull(nats.connection, request);
    expect(messages.map(({ streamSequence }) => streamSequence)).toEqual([1n]);
    away = false;
    await waitFor(() => seen.includes("old"));
    await nats.connection.flush();
    const looks = [await info(), await info()];
    expect(looks.map(({ num_ack_pending }) => num_ack_pending)).toEqual([1, 1]);
    for (const message of messages) message.nak();
    await waitFor(() => seen.includes("new"));
  });
});

describe("stopping", () => {
  test("gives back what was taken and not begun, so that another has it at once", async () => {
    const { opened, open } = newGate();
    await publish(numbered(0, 30));
    const first = start({
      handle: async (deliveries) => {
        await opened;
        if (deliveries.length > 1) throw unavailable("DEPENDENCY_UNAVAILABLE", "whole batch");
      },
    });
    await waitFor(async () => (await info()).num_ack_pending === 30);
    const stopping = first.stop();
    open();
    await stopping;
    const { seen, handle } = collect();
    const started = performance.now();
    start({ handle });
    await waitFor(() => seen.length === 30);
    // The ack wait is 30 s.
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(seen).toEqual(numbered(0, 30));
  });

  test("waits for the batch that is being handled", async () => {
    const { opened, open } = newGate();
    let done = false;
    const consumer = start({
      handle: async () => {
        await opened;
        done = true;
      },
    });
    await publish(["a"]);
    await waitFor(async () => (await info()).num_ack_pending === 1);
    const stopping = consumer.stop();
    expect(done).toBe(false);
    open();
    await stopping;
    expect(done).toBe(true);
    await waitFor(async () => (await info()).num_ack_pending === 0);
  });

  test("is not kept up by a broker that is away", async () => {
    const consumer = start({ handle: async () => {} });
    await waitFor(info);
    await broker.server.stop();
    await waitFor(() => !nats.connected);
    const started = performance.now();
    await consumer.stop();
    expect(performance.now() - started).toBeLessThan(8_000);
  });
});

describe("long work", () => {
  test("is not given to anybody else while it goes on", async () => {
    let calls = 0;
    const started = performance.now();
    start({
      ackWaitMs: 600,
      handle: async () => {
        calls++;
        await waitFor(() => performance.now() - started > 2_500);
      },
    });
    await publish(["a"]);
    await waitFor(() => calls > 0);
    await waitFor(async () => (await info()).num_ack_pending === 0);
    expect(calls).toBe(1);
    expect(await metricValue(metrics, "lapse_consumer_redelivered_total")).toBe(0);
  });
});

describe("a message that ends its process", () => {
  /** Delivers each of `count` messages `times` times without an answer that settles it. */
  async function crash(count: number, times: number): Promise<void> {
    const request = { stream: "ACTIVITY", consumer: durable, batch: count, waitMs: 2_000 };
    const often: PulledMessage[] = [];
    while (often.length < count) {
      const { messages } = await pull(nats.connection, request);
      for (const message of messages) {
        if (message.deliveryCount < times) message.nak();
        else often.push(message);
      }
    }
    for (const message of often) message.nak();
    await nats.connection.flush();
  }

  test("is parked unhandled after 50 deliveries, and what came back with it is handled", async () => {
    const first = start({ handle: async () => {} });
    await waitFor(info);
    await first.stop();
    await publish(["poison", "innocent", "other"]);
    await crash(3, 50);
    const sizes: number[] = [];
    const seen: string[] = [];
    start({
      handle: async (deliveries) => {
        sizes.push(deliveries.length);
        seen.push(...deliveries.map(idOf));
      },
    });
    await waitFor(() => seen.length === 2);
    expect(seen).toEqual(["innocent", "other"]);
    expect(sizes).toEqual([1, 1]);
    const { items } = await listParked(nats);
    expect(items.map(({ headers, deliveries }) => [headers["ce-id"], deliveries])).toEqual([
      ["poison", 51],
    ]);
    expect(items[0]?.reason).toMatch(/^CRASH_LOOP: /);
  });

  test("is handled alone before that, so that its neighbours get done", async () => {
    const first = start({ handle: async () => {} });
    await waitFor(info);
    await first.stop();
    await publish(["a", "b"]);
    await crash(2, 10);
    await publish(["c", "d"]);
    const batches: string[][] = [];
    start({
      handle: async (deliveries) => {
        batches.push(deliveries.map(idOf));
      },
    });
    await waitFor(() => batches.flat().length === 4);
    expect(batches.slice(0, 2)).toEqual([["a"], ["b"]]);
  });
});
