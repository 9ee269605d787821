import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import {
  type Consumer,
  createLogger,
  createMetrics,
  discardParked,
  invalid,
  listParked,
  type Nats,
  retryParked,
  startConsumer,
} from "../src/index.ts";
import { encodeActivity, idOf, publishActivity, READ } from "./support/activity.ts";
import { kitNats, log } from "./support/setup.ts";

let broker: Awaited<ReturnType<typeof kitNats>>;
let nats: Nats;
let consumers: Consumer[] = [];
let tests = 0;

beforeAll(async () => {
  broker = await kitNats();
  nats = broker.nats;
});
afterAll(() => broker.close());
beforeEach(async () => {
  tests++;
  await nats.manager.streams.purge("ACTIVITY");
  await nats.manager.streams.purge("PARKED");
});
afterEach(async () => {
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  consumers = [];
});

/** Parks everything until `mend` is called; then handles it. */
function broken() {
  const state = { seen: [] as string[], mended: false };
  consumers.push(
    startConsumer({
      nats,
      stream: "ACTIVITY",
      durable: `parking-${tests}`,
      log,
      metrics: createMetrics("test"),
      handle: async (deliveries) => {
        if (!state.mended) throw invalid("EVENT_INVALID", "not yet understood");
        state.seen.push(...deliveries.map(idOf));
      },
    }),
  );
  return state;
}

const parkedCount = (count: number) =>
  waitFor(async () => {
    const page = await listParked(nats, { limit: 100 });
    return page.items.length === count ? page : undefined;
  });

describe("listParked", () => {
  test("shows the oldest first, page by page, of one stream or of all", async () => {
    broken();
    await publishActivity(nats, ["a", "b", "c"]);
    await parkedCount(3);
    const first = await listParked(nats, { limit: 2 });
    expect(first.items.map(({ headers }) => headers["ce-id"])).toEqual(["a", "b"]);
    const second = await listParked(nats, { limit: 2, after: first.next ?? 0n });
    expect(second.items.map(({ headers }) => headers["ce-id"])).toEqual(["c"]);
    expect(second.next).toBeUndefined();
    expect((await listParked(nats, { stream: "ACTIVITY" })).items.length).toBe(3);
    expect((await listParked(nats, { stream: "CATALOG" })).items).toEqual([]);
  });

  test("passes over what has been removed in between", async () => {
    broken();
    await publishActivity(nats, ["a", "b", "c"]);
    const { items } = await parkedCount(3);
    const [, second] = items;
    await discardParked(nats, second?.sequence ?? 0n, { actor: "ana", reason: "test", log });
    const left = await listParked(nats);
    expect(left.items.map(({ headers }) => headers["ce-id"])).toEqual(["a", "c"]);
  });
});

describe("retryParked", () => {
  test("has the message handled once what was wrong is mended, and removes it", async () => {
    const consumer = broken();
    await publishActivity(nats, ["a"]);
    const { items } = await parkedCount(1);
    consumer.mended = true;
    const retried = await retryParked(nats, items[0]?.sequence ?? 0n);
    expect(retried.subject).toBe(READ);
    await waitFor(() => consumer.seen.length === 1);
    expect(consumer.seen).toEqual(["a"]);
    await parkedCount(0);
  });

  test("is not taken for a duplicate, and carries the headers it had and none about parking", async () => {
    const consumer = broken();
    await nats.publish(READ, encodeActivity("a"), { "ce-id": "e1", "x-own": "1" }, { msgId: "m1" });
    const { items } = await parkedCount(1);
    consumer.mended = true;
    await retryParked(nats, items[0]?.sequence ?? 0n);
    await waitFor(() => consumer.seen.length === 1);
    const { state } = await nats.manager.streams.info("ACTIVITY");
    const stored = await nats.manager.streams.getMessage("ACTIVITY", { seq: state.last_seq });
    const names = stored.header.keys().map((name) => name.toLowerCase());
    expect(names.filter((name) => name.startsWith("lapse-"))).toEqual([]);
    expect(names.filter((name) => name === "nats-msg-id").length).toBe(1);
    expect(stored.header.get("ce-id")).toBe("e1");
    expect(stored.header.get("x-own")).toBe("1");
    expect(stored.header.get("Nats-Msg-Id")).not.toBe("m1");
  });

  test("a message that fails again is parked again", async () => {
    broken();
    await publishActivity(nats, ["a"]);
    const { items } = await parkedCount(1);
    await retryParked(nats, items[0]?.sequence ?? 0n);
    const again = await waitFor(async () => {
      const [item] = (await listParked(nats)).items;
      return item && item.sequence !== items[0]?.sequence ? item : undefined;
    });
    expect(again.headers["ce-id"]).toBe("a");
  });

  test("by two operators at once sends it once", async () => {
    const consumer = broken();
    await publishActivity(nats, ["a"]);
    const { items } = await parkedCount(1);
    consumer.mended = true;
    const sequence = items[0]?.sequence ?? 0n;
    await Promise.allSettled([retryParked(nats, sequence), retryParked(nats, sequence)]);
    await publishActivity(nats, ["b"]);
    await waitFor(() => consumer.seen.includes("b"));
    expect(consumer.seen).toEqual(["a", "b"]);
  });

  test("of a message too large to park with its body takes the body from its stream", async () => {
    const consumer = broken();
    const { max_payload: limit = 0 } = nats.connection.info ?? {};
    const body = encodeActivity("x".repeat(limit - 300));
    await nats.publish(READ, body, {}, { msgId: "large" });
    const { items } = await parkedCount(1);
    expect(items[0]?.body.length).toBe(0);
    consumer.mended = true;
    await retryParked(nats, items[0]?.sequence ?? 0n);
    await waitFor(() => consumer.seen.length === 1);
    expect(consumer.seen[0]?.length).toBe(limit - 300);
  });

  test("says so when that body is gone, and never takes another message's for it", async () => {
    broken();
    const { max_payload: limit = 0 } = nats.connection.info ?? {};
    await nats.publish(READ, encodeActivity("x".repeat(limit - 300)), {}, { msgId: "gone" });
    const { items } = await parkedCount(1);
    await nats.manager.streams.purge("ACTIVITY");
    await expect(retryParked(nats, items[0]?.sequence ?? 0n)).rejects.toMatchObject({
      reason: "PARKED_BODY_GONE",
    });
  });

  test("of what is not there says so", async () => {
    await expect(retryParked(nats, 999_999n)).rejects.toMatchObject({
      kind: "not_found",
      reason: "PARKED_NOT_FOUND",
    });
  });
});

describe("discardParked", () => {
  test("removes the message and leaves in the log who did it and why, without its body", async () => {
    broken();
    await publishActivity(nats, ["secret-table"]);
    const { items } = await parkedCount(1);
    const lines: string[] = [];
    const recorded = createLogger({
      service: "test",
      destination: { write: (line: string) => void lines.push(line) },
    });
    await discardParked(nats, items[0]?.sequence ?? 0n, {
      actor: "ana",
      reason: "a test message",
      log: recorded,
    });
    await parkedCount(0);
    const [line = ""] = lines;
    expect(JSON.parse(line)).toMatchObject({
      level: "warn",
      actor: "ana",
      reason: "a test message",
      parked: { stream: "ACTIVITY", subject: READ },
      msg: "a parked message was discarded",
    });
    expect(JSON.parse(line).body).toBeUndefined();
  });
});
