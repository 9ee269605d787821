import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type TestNats, testNats, waitFor } from "@lapse/test-kit";
import {
  connectNats,
  createMetrics,
  ensureStream,
  ensureStreams,
  type Metrics,
  type Nats,
  STREAM_NAMES,
} from "../src/index.ts";
import { encodeActivity, READ } from "./support/activity.ts";
import { log, metricValue } from "./support/setup.ts";

let server: TestNats;
let open: Nats[] = [];

beforeAll(async () => {
  server = await testNats();
});
afterAll(() => server.close());
afterEach(async () => {
  await Promise.all(open.map((nats) => nats.close()));
  open = [];
  await server.start();
});

async function connect(metrics: Metrics = createMetrics("test"), replicas?: number): Promise<Nats> {
  const nats = await connectNats({
    url: server.url,
    name: "test",
    ...(replicas !== undefined && { replicas }),
    log,
    metrics,
  });
  open.push(nats);
  return nats;
}

let ids = 0;
const publish = (nats: Nats, msgId = `m${++ids}`, subject = READ) =>
  nats.publish(subject, encodeActivity("t"), {}, { msgId });

describe("connectNats", () => {
  test("connects while NATS is away as soon as it is back, and says so in a metric", async () => {
    await server.stop();
    const metrics = createMetrics("test");
    const nats = await connect(metrics);
    expect(nats.connected).toBe(false);
    expect(await metricValue(metrics, "lapse_nats_connected")).toBe(0);
    expect(() => nats.connection).toThrow(expect.objectContaining({ reason: "NATS_UNAVAILABLE" }));
    await server.start();
    await nats.whenConnected();
    expect(await metricValue(metrics, "lapse_nats_connected")).toBe(1);
    await ensureStreams(nats);
    await publish(nats);
  });

  test("connects again for ever after the server was killed", async () => {
    const metrics = createMetrics("test");
    const nats = await connect(metrics);
    for (let round = 0; round < 3; round++) {
      await server.kill();
      await waitFor(() => !nats.connected);
      expect(await metricValue(metrics, "lapse_nats_connected")).toBe(0);
      await server.start();
      await nats.whenConnected();
    }
    await ensureStreams(nats);
    await publish(nats);
  });

  test("a wait for the connection ends when its signal is aborted", async () => {
    await server.stop();
    const nats = await connect();
    await nats.whenConnected(AbortSignal.timeout(20));
    expect(nats.connected).toBe(false);
  });

  test("is closed promptly, connected or not, and closed means for good", async () => {
    const connected = await connect();
    await connected.close();
    await connected.closed;
    await server.stop();
    const away = await connect();
    const since = performance.now();
    await away.close();
    expect(performance.now() - since).toBeLessThan(6_000);
    await expect(publish(away)).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("makes a new connection when the client gave its own up", async () => {
    const nats = await connect();
    const first = nats.connection;
    await first.close();
    await waitFor(() => nats.connected && nats.connection !== first);
    await ensureStreams(nats);
    await publish(nats);
  });
});

describe("publish", () => {
  test("resolves once the message is stored; the same id is stored once", async () => {
    const nats = await connect();
    await ensureStreams(nats);
    const first = await publish(nats, "same");
    const again = await publish(nats, "same");
    expect(first).toMatchObject({ stream: "ACTIVITY", duplicate: false });
    expect(again).toMatchObject({ seq: first.seq, duplicate: true });
  });

  test("fails at once while disconnected, and nothing of it arrives later", async () => {
    const nats = await connect();
    await ensureStreams(nats);
    const { state: before } = await nats.manager.streams.info("ACTIVITY");
    await server.kill();
    await waitFor(() => !nats.connected);
    const since = performance.now();
    await expect(publish(nats)).rejects.toMatchObject({
      kind: "unavailable",
      reason: "NATS_UNAVAILABLE",
    });
    expect(performance.now() - since).toBeLessThan(1_000);
    await server.start();
    await nats.whenConnected();
    const { state: after } = await nats.manager.streams.info("ACTIVITY");
    expect(after.last_seq).toBe(before.last_seq);
  });

  test("says that a stream is missing, full, or that a message is too large", async () => {
    const nats = await connect();
    await ensureStreams(nats);
    await nats.manager.streams.delete("RUN");
    await expect(publish(nats, "a", "run.opened")).rejects.toMatchObject({
      kind: "unavailable",
      reason: "STREAM_NOT_FOUND",
    });
    await nats.manager.streams.update("HANDOFF", { max_msgs: 1 });
    await publish(nats, "b", "handoff.claimed");
    await expect(publish(nats, "c", "handoff.claimed")).rejects.toMatchObject({
      kind: "unavailable",
      reason: "STREAM_FULL",
    });
    const large = new Uint8Array(2_000_000);
    await expect(nats.publish(READ, large, {}, { msgId: "d" })).rejects.toMatchObject({
      kind: "invalid",
      reason: "EVENT_TOO_LARGE",
    });
  });

  test("a full stream refuses the new message, keeps the old ones, and acknowledged means stored", async () => {
    const nats = await connect();
    await ensureStreams(nats);
    await nats.manager.streams.purge("ACTIVITY");
    await nats.manager.streams.update("ACTIVITY", { max_msgs: 100 });
    let stored = 0;
    const all = Array.from({ length: 200 }, async () => {
      await publish(nats);
      stored++;
    });
    await Promise.allSettled(all);
    expect(stored).toBe(100);
    const { state } = await nats.manager.streams.info("ACTIVITY");
    expect(state.messages).toBe(stored);
    await nats.manager.streams.delete("ACTIVITY");
  });

  test("refuses a subject that no stream of Lapse takes", async () => {
    const nats = await connect();
    await expect(publish(nats, "x", "elsewhere.thing")).rejects.toMatchObject({
      reason: "SUBJECT_UNKNOWN",
    });
  });
});

describe("ensureStreams", () => {
  async function fresh(): Promise<Nats> {
    const nats = await connect();
    for (const name of STREAM_NAMES) {
      await nats.manager.streams.delete(name).catch(() => undefined);
    }
    return nats;
  }

  test("makes every stream as defined", async () => {
    const nats = await fresh();
    await ensureStreams(nats);
    const { config } = await nats.manager.streams.info("ACTIVITY");
    expect(config).toMatchObject({
      subjects: ["activity.>"],
      storage: "file",
      retention: "limits",
      discard: "new",
      max_age: 7 * 86_400 * 1e9,
      max_bytes: -1,
      num_replicas: 1,
      duplicate_window: 120 * 1e9,
    });
    expect((await nats.manager.streams.info("WORK")).config.retention).toBe("workqueue");
    expect((await nats.manager.streams.info("EXPIRY")).config.max_age).toBe(86_400 * 1e9);
    expect((await nats.manager.streams.info("PARKED")).config.max_age).toBe(30 * 86_400 * 1e9);
  });

  test("several services at once make them once, also with different settings", async () => {
    const nats = await fresh();
    await Promise.all([
      ensureStreams(nats),
      ensureStreams(nats, { maxBytes: { ACTIVITY: 1_000_000 } }),
      ensureStreams(nats),
      ensureStreams(nats, { maxBytes: { ACTIVITY: 1_000_000 } }),
    ]);
    expect((await nats.manager.streams.info("ACTIVITY")).config.max_bytes).toBe(1_000_000);
  });

  test("keeps the messages of a stream that is there and what an operator has raised", async () => {
    const nats = await fresh();
    await ensureStreams(nats);
    await publish(nats);
    await nats.manager.streams.update("ACTIVITY", {
      max_age: 30 * 86_400 * 1e9,
      max_bytes: 5_000_000,
      duplicate_window: 600 * 1e9,
    });
    await ensureStreams(nats);
    const { config, state } = await nats.manager.streams.info("ACTIVITY");
    expect(config).toMatchObject({
      max_age: 30 * 86_400 * 1e9,
      max_bytes: 5_000_000,
      duplicate_window: 600 * 1e9,
    });
    expect(state.messages).toBe(1);
  });

  test("brings back what was lowered", async () => {
    const nats = await fresh();
    await ensureStreams(nats);
    await nats.manager.streams.update("ACTIVITY", { max_age: 60 * 1e9, duplicate_window: 1e9 });
    await ensureStream(nats, "ACTIVITY");
    const { config } = await nats.manager.streams.info("ACTIVITY");
    expect(config.max_age).toBe(7 * 86_400 * 1e9);
    expect(config.duplicate_window).toBe(120 * 1e9);
  });

  test("refuses to use a stream of that name and another kind", async () => {
    const nats = await fresh();
    await nats.manager.streams.add({
      name: "WORK",
      subjects: ["work.>"],
      storage: "memory" as never,
    });
    await expect(ensureStreams(nats)).rejects.toMatchObject({
      kind: "precondition",
      reason: "STREAM_MISCONFIGURED",
    });
    await nats.manager.streams.delete("WORK");
  });

  test("waits for a NATS that is away, and gives up when told", async () => {
    await server.stop();
    const nats = await connect();
    const abort = new AbortController();
    const given = ensureStreams(nats, { signal: abort.signal });
    abort.abort();
    await given;
    const waiting = ensureStreams(nats, { log });
    await server.start();
    await waiting;
    expect((await nats.manager.streams.info("ACTIVITY")).config.name).toBe("ACTIVITY");
  });
});
