import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { DecisionOutcome, DecisionSchema } from "@lapse/proto/events";
import { waitFor } from "@lapse/test-kit";
import {
  appendDecision,
  appendEvent,
  appendEvents,
  isId,
  newTrace,
  onNotify,
  type Pool,
  traceId,
  withTransaction,
} from "../src/index.ts";
import { numberEvents, stayAwake } from "../src/outbox-store.ts";
import { append, event, upTo } from "./support/outbox.ts";
import { kitDatabase, log } from "./support/setup.ts";

let database: Awaited<ReturnType<typeof kitDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await kitDatabase("outbox");
  pool = database.pool;
});
afterAll(() => database.close());
beforeEach(async () => {
  await pool.query("truncate lapse_kit.outbox, lapse_kit.outbox_stream");
  await pool.query("update lapse_kit.outbox_relay set awake_until = '-infinity'");
});

const number = async (limit = 1_000): Promise<number> => {
  const { count } = await withTransaction(pool, (tx) => numberEvents(tx, { after: 0n, limit }));
  return count;
};

async function numbers(): Promise<{ name: string; sequence: bigint | null }[]> {
  const { rows } = await pool.query<{ name: string; sequence: bigint | null }>(
    "select event_subject as name, sequence from lapse_kit.outbox order by position",
  );
  return rows;
}

describe("appendEvent", () => {
  test("leaves nothing behind when the transaction fails", async () => {
    const failing = withTransaction(pool, async (tx) => {
      await appendEvent(tx, event("a"));
      throw new Error("the effect failed");
    });
    await expect(failing).rejects.toThrow("the effect failed");
    expect(await numbers()).toEqual([]);
  });

  test("keeps the order in which events are given, and gives each an id", async () => {
    const ids = await withTransaction(pool, (tx) =>
      appendEvents(tx, [event("a"), event("b"), event("c")]),
    );
    expect((await numbers()).map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(ids.every(isId)).toBe(true);
    expect(new Set(ids).size).toBe(3);
  });

  test("wakes relays when the transaction has committed, not before", async () => {
    let woken = 0;
    const listening = onNotify(pool, "lapse_outbox", () => woken++, { log });
    try {
      await waitFor(() => woken === 1);
      await withTransaction(pool, async (tx) => {
        await appendEvent(tx, event("a"));
        await pool.query("select 1");
        expect(woken).toBe(1);
      });
      await waitFor(() => woken === 2);
    } finally {
      await listening.stop();
    }
  });

  test("wakes nobody while a relay looks often by itself", async () => {
    let woken = 0;
    const listening = onNotify(pool, "lapse_outbox", () => woken++, { log });
    try {
      await waitFor(() => woken === 1);
      await stayAwake(pool);
      await append(pool, ["a"]);
      await pool.query("select pg_notify('lapse_outbox', 'after')");
      await waitFor(() => woken > 1);
      expect(woken).toBe(2);
    } finally {
      await listening.stop();
    }
  });

  test("refuses an event that would be too large to send, before anything is written", async () => {
    const large = withTransaction(pool, (tx) =>
      appendEvents(tx, [event("small"), event("large", 300_000)]),
    );
    await expect(large).rejects.toMatchObject({ kind: "invalid", reason: "EVENT_TOO_LARGE" });
    expect(await numbers()).toEqual([]);
  });
});

describe("appendDecision", () => {
  test("T32 writes who decided what about which thing, why, and under which trace", async () => {
    const traceparent = newTrace();
    const now = new Date("2026-05-01T10:00:00.123Z");
    const id = await withTransaction(pool, (tx) =>
      appendDecision(
        tx,
        {
          service: "catalog",
          tenant: "local",
          type: "TABLE_DROPPED",
          resource: { kind: "table", id: "t1", name: "bronze.trial", environment: "dev" },
          outcome: "done",
          reason: "retention",
          details: { retention: { source: "table", days: 3 } },
          runId: "sweep-1",
          traceparent,
        },
        now,
      ),
    );
    const { rows } = await pool.query("select * from lapse_kit.outbox");
    const [row] = rows;
    expect(row).toMatchObject({
      id,
      stream: "DECISION",
      subject: "decision.catalog.TABLE_DROPPED",
      type: "lapse.events.v1.Decision",
      event_subject: "t1",
      traceparent,
    });
    const decision = fromBinary(DecisionSchema, row.body);
    expect(decision).toMatchObject({
      id,
      actor: "",
      outcome: DecisionOutcome.DONE,
      details: { retention: { source: "table", days: 3 } },
      traceId: traceId(traceparent),
      runId: "sweep-1",
    });
    expect(decision.at && timestampDate(decision.at)).toEqual(now);
  });
});

describe("numberEvents", () => {
  test("numbers each stream from 1 on without a gap, in the order written", async () => {
    await append(pool, ["a", "b"]);
    await withTransaction(pool, (tx) =>
      appendEvent(tx, { ...event("p"), stream: "POLICY", subject: "policy.table.set" }),
    );
    await append(pool, ["c"]);
    expect(await number()).toBe(4);
    await append(pool, ["d"]);
    expect(await number()).toBe(1);
    expect(await numbers()).toEqual([
      { name: "a", sequence: 1n },
      { name: "b", sequence: 2n },
      { name: "p", sequence: 1n },
      { name: "c", sequence: 3n },
      { name: "d", sequence: 4n },
    ]);
  });

  test("an event written earlier and committed later gets the later number, and no gap is left", async () => {
    const slow = await pool.connect();
    try {
      await slow.query("begin");
      await appendEvents(slow, [event("early")]);
      await append(pool, ["late"]);
      await number();
      await slow.query("commit");
      await number();
    } finally {
      slow.release();
    }
    expect(await numbers()).toEqual([
      { name: "early", sequence: 2n },
      { name: "late", sequence: 1n },
    ]);
  });

  test("a transaction that is rolled back leaves no gap", async () => {
    await append(pool, ["a"]);
    const client = await pool.connect();
    await client.query("begin");
    await appendEvents(client, [event("never")]);
    await client.query("rollback");
    client.release();
    await append(pool, ["b"]);
    await number();
    expect((await numbers()).map(({ sequence }) => sequence)).toEqual([1n, 2n]);
  });

  test("several relays numbering at once, while events keep coming, give no number twice and leave no gap", async () => {
    let writing = true;
    const writers = upTo(3).map(async (writer) => {
      for (const round of upTo(40))
        await append(pool, [`${writer}-${round}`, `${writer}-${round}b`]);
    });
    const relays = upTo(3).map(async () => {
      while (writing) await number(25);
    });
    await Promise.all(writers);
    writing = false;
    await Promise.all(relays);
    while ((await number()) > 0);
    const sequences = (await numbers()).map(({ sequence }) => Number(sequence));
    expect(sequences.sort((a, b) => a - b)).toEqual(upTo(240));
    const { rows } = await pool.query("select last_sequence from lapse_kit.outbox_stream");
    expect(rows).toEqual([{ last_sequence: 240n }]);
  });
});
