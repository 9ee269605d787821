import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { EnvironmentCreatedSchema } from "@lapse/proto/events";
import { waitFor } from "@lapse/test-kit";
import { cleanOutbox } from "../src/cleanup.ts";
import {
  appendEvents,
  createMetrics,
  createPool,
  ensureStreams,
  type Metrics,
  type Nats,
  newTrace,
  type Pool,
  type Stoppable,
  startOutboxRelay,
  withTransaction,
} from "../src/index.ts";
import { lockForPublishing, numberEvents } from "../src/outbox-store.ts";
import { append, event, sequencesIn, streamMessages, unsent, upTo } from "./support/outbox.ts";
import { connectAnother, kitDatabase, kitNats, log, metricValue } from "./support/setup.ts";

let database: Awaited<ReturnType<typeof kitDatabase>>;
let broker: Awaited<ReturnType<typeof kitNats>>;
let pool: Pool;
let nats: Nats;
let metrics: Metrics;
let relays: Stoppable[] = [];

beforeAll(async () => {
  [database, broker] = await Promise.all([kitDatabase("outbox relay"), kitNats()]);
  ({ pool } = database);
  ({ nats } = broker);
});
afterAll(async () => {
  await broker.close();
  await database.close();
});
beforeEach(async () => {
  metrics = createMetrics("test");
  await pool.query("truncate lapse_kit.outbox, lapse_kit.outbox_stream");
  for (const stream of ["CATALOG", "POLICY"] as const) await nats.manager.streams.delete(stream);
  await ensureStreams(nats);
});
afterEach(async () => {
  await Promise.all(relays.map((relay) => relay.stop()));
  relays = [];
  await broker.server.start();
  await nats.whenConnected();
});

function relay(on: Nats = nats): Stoppable {
  const started = startOutboxRelay({ pool, nats: on, source: "lapse.test", log, metrics });
  relays.push(started);
  return started;
}

const allSent = () => waitFor(async () => (await unsent(pool)) === 0, { timeoutMs: 20_000 });
const names = (count: number, prefix = "e") => upTo(count).map((nth) => `${prefix}${nth}`);

describe("startOutboxRelay", () => {
  test("publishes what was committed before and after its start, numbered and in order", async () => {
    await append(pool, ["a", "b"]);
    relay();
    await allSent();
    await append(pool, ["c"]);
    await allSent();
    const messages = await streamMessages(nats, "CATALOG");
    expect(messages.map(({ headers }) => headers["ce-sequence"])).toEqual(["1", "2", "3"]);
    expect(
      messages.map(({ body }) => fromBinary(EnvironmentCreatedSchema, body).environment?.name),
    ).toEqual(["a", "b", "c"]);
    expect(await metricValue(metrics, "lapse_outbox_published_total")).toBe(3);
  });

  test("sends an event as a CloudEvent with its id as message id", async () => {
    const traceparent = newTrace();
    const [id] = await withTransaction(pool, (tx) =>
      appendEvents(tx, [{ ...event("ä b"), traceparent }]),
    );
    relay();
    await allSent();
    const [message] = await streamMessages(nats, "CATALOG");
    expect(message?.headers).toMatchObject({
      "ce-specversion": "1.0",
      "ce-id": id,
      "ce-type": "lapse.events.v1.EnvironmentCreated",
      "ce-source": "lapse.test",
      "ce-subject": "%C3%A4%20b",
      "ce-datacontenttype": "application/protobuf",
      "ce-sequence": "1",
      "content-type": "application/protobuf",
      "nats-msg-id": id,
      "nats-expected-stream": "CATALOG",
      traceparent,
    });
    expect(Date.parse(message?.headers["ce-time"] ?? "")).not.toBeNaN();
  });

  test("is woken by a commit, long before it would look by itself", async () => {
    const started = startOutboxRelay({
      pool,
      nats,
      source: "lapse.test",
      pollMs: 60_000,
      log,
      metrics,
    });
    relays.push(started);
    await append(pool, ["a"]);
    await allSent();
    await append(pool, ["b"]);
    await allSent();
  });

  test("two relays, each of a process of its own, send each event once and in order", async () => {
    const other = await connectAnother(broker.server, "other");
    try {
      relay();
      relay(other);
      for (const round of upTo(20)) await append(pool, names(50, `${round}-`));
      await allSent();
      expect(await sequencesIn(nats, "CATALOG")).toEqual(upTo(1_000));
    } finally {
      await Promise.all(relays.map((each) => each.stop()));
      await other.close();
    }
  });

  test("an old snapshot held by somebody else does not make it slow", async () => {
    const holder = await pool.connect();
    try {
      await holder.query("begin isolation level repeatable read");
      await holder.query("select count(*) from lapse_kit.outbox");
      for (const round of upTo(10)) await append(pool, names(500, `${round}-`));
      relay();
      const started = performance.now();
      await allSent();
      expect(performance.now() - started).toBeLessThan(10_000);
    } finally {
      await holder.query("rollback");
      holder.release();
    }
    expect(await sequencesIn(nats, "CATALOG")).toEqual(upTo(5_000));
  });
});

describe("a broker that fails", () => {
  test("killed in the middle and started again, every event arrives, in order, and none is missing", async () => {
    relay();
    const writing = (async () => {
      for (const round of upTo(60)) await append(pool, names(20, `${round}-`));
    })();
    await waitFor(async () => (await metricValue(metrics, "lapse_outbox_published_total")) > 200);
    await broker.server.kill();
    await waitFor(() => !nats.connected);
    await writing;
    await broker.server.start();
    await nats.whenConnected();
    await allSent();
    const sequences = await sequencesIn(nats, "CATALOG");
    // The broker drops what it has under the same id; what slips through is the same event once more.
    expect([...new Set(sequences)].sort((a, b) => a - b)).toEqual(upTo(1_200));
  });

  test("away at the start, events are numbered meanwhile and sent when it is back", async () => {
    await broker.server.stop();
    await waitFor(() => !nats.connected);
    relay();
    await append(pool, names(5));
    await waitFor(async () => {
      const { rows } = await pool.query("select last_sequence from lapse_kit.outbox_stream");
      return rows[0]?.last_sequence === 5n;
    });
    expect(await unsent(pool)).toBe(5);
    await broker.server.start();
    await allSent();
    expect(await sequencesIn(nats, "CATALOG")).toEqual(upTo(5));
  });

  test("that lost its streams gets them made again, and everything after that", async () => {
    relay();
    await append(pool, names(3));
    await allSent();
    await nats.manager.streams.delete("CATALOG");
    await append(pool, names(2, "after"));
    await allSent();
    expect(await sequencesIn(nats, "CATALOG")).toEqual([4, 5]);
  });

  test("with one stream full still gets the events of the others, and that one's when there is room", async () => {
    await nats.manager.streams.update("CATALOG", { max_msgs: 3 });
    relay();
    await append(pool, names(5));
    await withTransaction(pool, (tx) =>
      appendEvents(tx, [{ ...event("p"), stream: "POLICY", subject: "policy.environment.set" }]),
    );
    await waitFor(async () => (await sequencesIn(nats, "POLICY")).length === 1);
    await waitFor(async () => (await unsent(pool)) === 2);
    await nats.manager.streams.update("CATALOG", { max_msgs: -1 });
    await allSent();
    expect(await sequencesIn(nats, "CATALOG")).toEqual(upTo(5));
  });

  test("that refuses one event gets those behind it, and that one later", async () => {
    await nats.manager.streams.update("CATALOG", { max_msg_size: 2_000 });
    await append(pool, ["a"]);
    await withTransaction(pool, (tx) => appendEvents(tx, [event("large", 5_000)]));
    // More than are in flight at once.
    await append(pool, names(150));
    relay();
    await waitFor(async () => (await unsent(pool)) === 1);
    const others = [1, ...upTo(150).map((nth) => nth + 2)];
    expect(await sequencesIn(nats, "CATALOG")).toEqual(others);
    // It is not sent with every round.
    const { rows } = await pool.query(
      "select sequence from lapse_kit.outbox where retry_at > now() + interval '30 s'",
    );
    expect(rows).toEqual([{ sequence: 2n }]);
    await nats.manager.streams.update("CATALOG", { max_msg_size: -1 });
    await pool.query("update lapse_kit.outbox set retry_at = now() where published_at is null");
    await allSent();
    expect(await sequencesIn(nats, "CATALOG")).toEqual([...others, 2]);
  });
});

describe("a database that fails", () => {
  test("while events are being published: they are sent again under the same ids", async () => {
    const own = createPool({ url: database.url, applicationName: "relay", log });
    const started = startOutboxRelay({ pool: own, nats, source: "lapse.test", log, metrics });
    try {
      let cuts = 0;
      for (const round of upTo(40)) {
        await append(pool, names(25, `${round}-`));
        const { rowCount } = await pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'relay' and state <> 'idle'`,
        );
        cuts += rowCount ?? 0;
      }
      await allSent();
      expect(cuts).toBeGreaterThan(0);
      const sequences = await sequencesIn(nats, "CATALOG");
      expect([...new Set(sequences)].sort((a, b) => a - b)).toEqual(upTo(1_000));
    } finally {
      await started.stop();
      await own.end();
    }
  });

  test("a relay that hangs in mid-publish keeps the stream only until the database ends its session", async () => {
    await append(pool, names(3));
    const hung = await pool.connect();
    await hung.query("begin");
    expect(await lockForPublishing(hung, "CATALOG")).toBe(true);
    relay();
    await waitFor(async () => {
      const { rows } = await pool.query("select from lapse_kit.outbox where sequence = 3");
      return rows.length === 1;
    });
    expect(await sequencesIn(nats, "CATALOG")).toEqual([]);
    await hung.query("set local idle_in_transaction_session_timeout = '200ms'");
    await allSent();
    hung.release(true);
    expect(await sequencesIn(nats, "CATALOG")).toEqual([1, 2, 3]);
  });
});

describe("cleanOutbox", () => {
  const age = (days: number, upToSequence: number) =>
    pool.query(
      `update lapse_kit.outbox set published_at = now() - make_interval(days => $1)
       where sequence <= $2`,
      [days, upToSequence],
    );
  const kept = async () => {
    const { rows } = await pool.query<{ sequence: bigint }>(
      "select sequence from lapse_kit.outbox order by sequence",
    );
    return rows.map(({ sequence }) => Number(sequence));
  };
  const number = () =>
    withTransaction(pool, (tx) => numberEvents(tx, { after: 0n, limit: 10_000 }));

  test("deletes what was published before the keeping time, and remembers where the rest begins", async () => {
    await append(pool, names(5));
    await number();
    await age(8, 3);
    expect(await cleanOutbox(pool, 7)).toBe(3);
    expect(await kept()).toEqual([4, 5]);
    const { rows } = await pool.query("select first_kept_sequence from lapse_kit.outbox_stream");
    expect(rows).toEqual([{ first_kept_sequence: 4n }]);
    expect(await cleanOutbox(pool, 7)).toBe(0);
  });

  test("never deletes an unsent event, nor what comes after it", async () => {
    await append(pool, names(5));
    await number();
    await age(8, 5);
    await pool.query("update lapse_kit.outbox set published_at = null where sequence = 3");
    expect(await cleanOutbox(pool, 7)).toBe(2);
    expect(await kept()).toEqual([3, 4, 5]);
  });

  test("goes on in batches until nothing old is left, and the next event is numbered on", async () => {
    await append(pool, names(2_500));
    await number();
    await age(8, 2_500);
    expect(await cleanOutbox(pool, 7)).toBe(2_500);
    await append(pool, ["next"]);
    await number();
    expect(await kept()).toEqual([2_501]);
  });
});
