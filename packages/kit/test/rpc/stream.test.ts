import { once } from "node:events";
import { afterEach, describe, expect, test } from "@jest/globals";
import { notFound } from "@lapse/kit";
import { waitFor } from "@lapse/test-kit";
import { type OutboxHandlers, type OutboxServer, startOutboxServer } from "./outbox-server.ts";

let running: OutboxServer;
afterEach(() => running.end());

type Replay = OutboxHandlers["replayOutbox"];
const REQUEST = { stream: "DECISION", fromSequence: 1n, toSequence: 2n };

/** Far more than buffers hold (128 MiB in 64 KiB messages), and little enough for a test that fails. */
const MOST = 2_000;

/** A stream that does not end before its caller does, and what became of it. */
async function startEndless() {
  const seen = { produced: 0, closed: 0, aborted: false };
  const replayOutbox: Replay = async function* (_, { signal }) {
    signal.addEventListener("abort", () => {
      seen.aborted = true;
    });
    try {
      while (seen.produced < MOST) {
        seen.produced++;
        yield { subject: `s${seen.produced}`, body: new Uint8Array(64 * 1024) };
      }
      if (!signal.aborted) await once(signal, "abort");
    } finally {
      seen.closed++;
    }
  };
  running = await startOutboxServer({ replayOutbox }, { level: "info" });
  return seen;
}

/** A stream that waits for something that does not come. */
async function startWaiting() {
  const seen = { started: false, closed: false };
  const replayOutbox: Replay = async function* (_, { signal }) {
    try {
      seen.started = true;
      yield { subject: "first" };
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    } finally {
      seen.closed = true;
    }
  };
  running = await startOutboxServer({ replayOutbox }, { level: "info" });
  return seen;
}

async function read(stream: AsyncIterable<{ subject: string }>): Promise<string[]> {
  const subjects: string[] = [];
  for await (const { subject } of stream) subjects.push(subject);
  return subjects;
}

describe("a stream", () => {
  test("delivers everything in order", async () => {
    const replayOutbox: Replay = async function* () {
      for (let i = 1; i <= 2_000; i++) yield { subject: String(i) };
    };
    running = await startOutboxServer({ replayOutbox });
    const subjects = await read(running.client.replayOutbox(REQUEST));
    expect(subjects).toEqual(Array.from({ length: 2_000 }, (_, index) => String(index + 1)));
  });

  test("may be empty", async () => {
    const replayOutbox: Replay = async function* () {};
    running = await startOutboxServer({ replayOutbox });
    expect(await read(running.client.replayOutbox(REQUEST))).toEqual([]);
  });

  test("that fails in the middle gives the messages before it, then the error", async () => {
    const replayOutbox: Replay = async function* () {
      yield { subject: "1" };
      yield { subject: "2" };
      throw notFound("GONE", "sequence 3 is deleted", { details: { sequence: "3" } });
    };
    running = await startOutboxServer({ replayOutbox });
    const subjects: string[] = [];
    const reading = (async () => {
      for await (const { subject } of running.client.replayOutbox(REQUEST)) subjects.push(subject);
    })();
    await expect(reading).rejects.toMatchObject({
      kind: "not_found",
      reason: "GONE",
      message: "sequence 3 is deleted",
      details: { sequence: "3" },
    });
    expect(subjects).toEqual(["1", "2"]);
  });

  test("needs a valid token like any call", async () => {
    running = await startOutboxServer({});
    await expect(read(running.clientOf("eve").replayOutbox(REQUEST))).rejects.toMatchObject({
      kind: "unauthenticated",
    });
  });

  test("is not produced faster than it is read", async () => {
    const seen = await startEndless();
    const stream = running.client.replayOutbox(REQUEST)[Symbol.asyncIterator]();
    await stream.next();
    // It has stopped when nothing more is produced from one look to the next, a quarter second later.
    let before = -1;
    await waitFor(
      () => {
        const still = seen.produced === before;
        before = seen.produced;
        return still;
      },
      { everyMs: 250 },
    );
    expect(seen.produced).toBeLessThan(500);
    await stream.return?.();
  });

  test("is closed at the server when the reader leaves its loop", async () => {
    const seen = await startEndless();
    for await (const _ of running.client.replayOutbox(REQUEST)) break;
    await waitFor(() => seen.closed === 1);
    expect(seen.aborted).toBe(true);
    await waitFor(() => running.lines.find(({ code }) => code === "CANCELLED"));
  });

  test("is closed at the server when the caller's signal is aborted", async () => {
    const seen = await startWaiting();
    const leave = new AbortController();
    const reading = read(running.client.replayOutbox(REQUEST, { signal: leave.signal }));
    const failed = expect(reading).rejects.toMatchObject({ reason: "CANCELLED" });
    await waitFor(() => seen.started);
    leave.abort();
    await failed;
    await waitFor(() => seen.closed);
  });

  test("is closed at the server when its deadline passes", async () => {
    const seen = await startWaiting();
    const deadline = new Date(Date.now() + 300);
    await expect(read(running.client.replayOutbox(REQUEST, { deadline }))).rejects.toMatchObject({
      reason: "DEADLINE_EXCEEDED",
    });
    await waitFor(() => seen.closed);
  });

  test("that has started is not cut by the time its start may take", async () => {
    const replayOutbox: Replay = async function* () {
      yield { subject: "1" };
      await new Promise((resolve) => setTimeout(resolve, 400));
      yield { subject: "2" };
    };
    running = await startOutboxServer({ replayOutbox });
    const stream = running.client.replayOutbox(REQUEST, { deadlineMs: 200 });
    expect(await read(stream)).toEqual(["1", "2"]);
  });

  test("counts as started before its first message", async () => {
    const replayOutbox: Replay = async function* () {
      await new Promise((resolve) => setTimeout(resolve, 400));
      yield { subject: "1" };
    };
    running = await startOutboxServer({ replayOutbox });
    const stream = running.client.replayOutbox(REQUEST, { deadlineMs: 200 });
    expect(await read(stream)).toEqual(["1"]);
  });

  test("whose reader has left does not crash the server when it fails afterwards", async () => {
    let failed = false;
    const replayOutbox: Replay = async function* (_, { signal }) {
      yield { subject: "1" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      failed = true;
      throw new Error("after the end");
    };
    running = await startOutboxServer({
      replayOutbox,
      getOutboxHead: async () => ({ unsent: 7n }),
    });
    for await (const _ of running.client.replayOutbox(REQUEST)) break;
    await waitFor(() => failed);
    expect((await running.client.getOutboxHead({})).unsent).toBe(7n);
  });
});

test("no listener is left on a signal that many calls share", async () => {
  running = await startOutboxServer({
    getOutboxHead: async () => ({}),
    replayOutbox: async function* () {
      yield { subject: "1" };
    },
  });
  const added: string[] = [];
  const { signal } = new AbortController();
  const [add, remove] = [signal.addEventListener, signal.removeEventListener];
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    added.push(args[0]);
    add.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    added.pop();
    remove.apply(signal, args);
  };
  await running.client.getOutboxHead({}, { signal });
  await read(running.client.replayOutbox(REQUEST, { signal }));
  expect(added).toEqual([]);
});
