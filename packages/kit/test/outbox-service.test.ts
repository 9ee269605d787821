import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { ReplayOutboxResponse } from "@lapse/proto/common";
import { cleanOutbox } from "../src/cleanup.ts";
import { type CallContext, outboxHandlers, type Pool, withTransaction } from "../src/index.ts";
import { numberEvents } from "../src/outbox-store.ts";
import { append, upTo } from "./support/outbox.ts";
import { kitDatabase } from "./support/setup.ts";

let database: Awaited<ReturnType<typeof kitDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await kitDatabase("outbox service");
  pool = database.pool;
});
afterAll(() => database.close());
beforeEach(() => pool.query("truncate lapse_kit.outbox, lapse_kit.outbox_stream"));

/** Of a call by a service; the handlers use no more of it. */
const context = (kind: "service" | "person" = "service", signal = new AbortController().signal) =>
  ({
    caller: { subject: "audit", tenant: "local", roles: ["superadmin"], kind },
    method: "lapse.common.v1.OutboxService/GetOutboxHead",
    signal,
  }) as unknown as CallContext;

const handlers = () => outboxHandlers({ pool, source: "lapse.test" });

async function written(count: number): Promise<void> {
  await append(
    pool,
    upTo(count).map((nth) => `e${nth}`),
  );
  await withTransaction(pool, (tx) => numberEvents(tx, { after: 0n, limit: 10_000 }));
}

async function replayed(from: number, to: number): Promise<number[]> {
  const request = { stream: "CATALOG", fromSequence: BigInt(from), toSequence: BigInt(to) };
  const sequences: number[] = [];
  for await (const each of handlers().replayOutbox(request as never, context())) {
    sequences.push(Number((each as ReplayOutboxResponse).headers["ce-sequence"]));
  }
  return sequences;
}

describe("GetOutboxHead", () => {
  test("gives the last number of each stream, what is kept, and what is unsent since when", async () => {
    await written(3);
    await pool.query("update lapse_kit.outbox set published_at = now() where sequence < 3");
    const head = await handlers().getOutboxHead({} as never, context());
    expect(head.heads).toEqual([{ stream: "CATALOG", lastSequence: 3n, firstKeptSequence: 1n }]);
    expect(head.unsent).toBe(1n);
    expect(head.oldestUnsentAt).toBeDefined();
  });

  test("of an empty outbox is empty", async () => {
    expect(await handlers().getOutboxHead({} as never, context())).toEqual({
      heads: [],
      unsent: 0n,
    });
  });

  test("answers services only, and records whom it refused", async () => {
    await expect(handlers().getOutboxHead({} as never, context("person"))).rejects.toMatchObject({
      kind: "denied",
      reason: "SERVICE_REQUIRED",
    });
    const { rows } = await pool.query("select subject from lapse_kit.outbox");
    expect(rows).toEqual([{ subject: "decision.test.AUTHORIZATION_DENIED" }]);
  });
});

describe("ReplayOutbox", () => {
  test("gives the events of a range as they were sent, sent or not", async () => {
    await written(5);
    expect(await replayed(2, 4)).toEqual([2, 3, 4]);
  });

  test("gives long ranges whole and in order", async () => {
    await written(1_300);
    expect(await replayed(1, 1_300)).toEqual(upTo(1_300));
  });

  test("ends where nothing has been given out yet", async () => {
    await written(2);
    expect(await replayed(2, 9)).toEqual([2]);
    expect(await replayed(5, 9)).toEqual([]);
  });

  test("says from where on there are events when some asked for have been deleted", async () => {
    await written(1_300);
    await pool.query(
      "update lapse_kit.outbox set published_at = now() - interval '8 days' where sequence <= 700",
    );
    await cleanOutbox(pool, 7);
    await expect(replayed(1, 1_300)).rejects.toMatchObject({
      kind: "precondition",
      reason: "OUTBOX_NOT_KEPT",
      details: { first_kept_sequence: "701" },
    });
    expect(await replayed(701, 703)).toEqual([701, 702, 703]);
  });

  test("refuses a range that is none, and a stream never published to", async () => {
    await written(1);
    await expect(replayed(0, 5)).rejects.toMatchObject({ reason: "RANGE_INVALID" });
    await expect(replayed(5, 4)).rejects.toMatchObject({ reason: "RANGE_INVALID" });
    await pool.query("truncate lapse_kit.outbox, lapse_kit.outbox_stream");
    await expect(replayed(1, 1)).rejects.toMatchObject({ reason: "OUTBOX_STREAM_UNKNOWN" });
  });

  test("stops when the caller leaves", async () => {
    await written(1_000);
    const caller = new AbortController();
    const request = { stream: "CATALOG", fromSequence: 1n, toSequence: 1_000n };
    let count = 0;
    for await (const _ of handlers().replayOutbox(
      request as never,
      context("service", caller.signal),
    )) {
      count++;
      caller.abort();
    }
    expect(count).toBeLessThan(1_000);
  });
});
