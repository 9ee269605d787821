import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type {
  GetOutboxHeadResponse,
  OutboxService,
  ReplayOutboxResponse,
} from "@lapse/proto/common";
import { waitFor } from "@lapse/test-kit";
import { cleanOutbox } from "../src/cleanup.ts";
import {
  type CallContext,
  createMetrics,
  type Delivery,
  ensureStreams,
  type GapHealerOptions,
  type GrpcClient,
  type Metrics,
  missingRanges,
  type OutboxClient,
  outboxHandlers,
  type Pool,
  type Stoppable,
  startConsumer,
  startGapHealer,
  startOutboxRelay,
  trackSequences,
  unavailable,
  withTransaction,
} from "../src/index.ts";
import { append, unsent, upTo } from "./support/outbox.ts";
import { kitDatabase, kitNats, log, metricValue } from "./support/setup.ts";

const source = "lapse.test";

let publisher: Awaited<ReturnType<typeof kitDatabase>>;
let consumer: Awaited<ReturnType<typeof kitDatabase>>;
let broker: Awaited<ReturnType<typeof kitNats>>;
let pool: Pool;
let metrics: Metrics;
let running: Stoppable[] = [];
let tests = 0;

beforeAll(async () => {
  [publisher, consumer, broker] = await Promise.all([
    kitDatabase("gap publisher"),
    kitDatabase("gap consumer"),
    kitNats(),
  ]);
  pool = consumer.pool;
});
afterAll(async () => {
  await broker.close();
  await Promise.all([publisher.close(), consumer.close()]);
});
beforeEach(async () => {
  metrics = createMetrics("test");
  tests++;
  await publisher.pool.query("truncate lapse_kit.outbox, lapse_kit.outbox_stream");
  await pool.query("truncate lapse_kit.inbox, effect");
  await broker.nats.manager.streams.purge("CATALOG");
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  running = [];
});

/** The publisher's OutboxService, without a network in between. */
function client(): OutboxClient {
  const handlers = outboxHandlers({ pool: publisher.pool, source });
  const context = { caller: { kind: "service" }, signal: new AbortController().signal };
  const asService = context as unknown as CallContext;
  return {
    getOutboxHead: async () =>
      (await handlers.getOutboxHead({} as never, asService)) as GetOutboxHeadResponse,
    replayOutbox: (request) =>
      handlers.replayOutbox(request as never, asService) as AsyncIterable<ReplayOutboxResponse>,
  };
}

/** Takes each event in once, like a service that must not miss any. */
async function takeIn(deliveries: readonly Delivery[]): Promise<void> {
  await withTransaction(pool, async (tx) => {
    const isNew = await trackSequences(
      tx,
      deliveries.map(({ event, stream }) => ({
        source: event.source,
        stream,
        sequence: event.sequence ?? 0n,
      })),
    );
    for (const [nth, { event }] of deliveries.entries()) {
      if (isNew[nth]) await tx.query("insert into effect (key) values ($1)", [event.subject]);
    }
  });
}

const effects = async () => {
  const { rows } = await pool.query<{ key: string }>("select key from effect order by nth");
  return rows.map(({ key }) => key);
};

function heal(options: Partial<GapHealerOptions> = {}): void {
  running.push(
    startGapHealer({
      pool,
      nats: broker.nats,
      sources: { [source]: client() },
      streams: ["CATALOG"],
      onReplay: takeIn,
      everyMs: 50,
      missingForMs: 150,
      log,
      metrics,
      ...options,
    }),
  );
}

function relayAndConsume() {
  const relay = startOutboxRelay({ pool: publisher.pool, nats: broker.nats, source, log, metrics });
  const consuming = startConsumer({
    nats: broker.nats,
    stream: "CATALOG",
    durable: `gap-${tests}`,
    handle: takeIn,
    log,
    metrics,
  });
  running.push(relay, consuming);
  return { relay, consuming };
}

/** Events that are in the stream and that nobody has read. */
async function publish(from: number, to: number): Promise<void> {
  await append(publisher.pool, names(from, to));
  const relay = startOutboxRelay({ pool: publisher.pool, nats: broker.nats, source, log, metrics });
  await sent();
  await relay.stop();
}

const names = (from: number, to: number) => upTo(to - from + 1).map((nth) => `e${from + nth - 1}`);
const sent = () => waitFor(async () => (await unsent(publisher.pool)) === 0);

describe("startGapHealer", () => {
  test("takes a gRPC client of OutboxService as it is", () => {
    const asClient = (grpc: GrpcClient<typeof OutboxService>): OutboxClient => grpc;
    expect(asClient).toBeDefined();
  });

  test("fetches events that the stream lost before they were read, between and at the end", async () => {
    const { relay, consuming } = relayAndConsume();
    await append(publisher.pool, names(1, 3));
    await waitFor(async () => (await effects()).length === 3);
    await consuming.stop();
    await append(publisher.pool, names(4, 6));
    await sent();
    await relay.stop();
    // The store is lost with what nobody has read yet.
    await broker.nats.manager.streams.delete("CATALOG");
    relayAndConsume();
    await append(publisher.pool, ["e7"]);
    await waitFor(async () => (await effects()).includes("e7"));
    expect((await missingRanges(pool)).map(({ from, to }) => [from, to])).toEqual([[4n, 6n]]);
    heal();
    await waitFor(async () => (await effects()).length === 7);
    expect((await effects()).sort()).toEqual(names(1, 7));
    expect(await missingRanges(pool)).toEqual([]);
    await waitFor(async () => (await metricValue(metrics, "lapse_inbox_healed_total")) === 3);
  });

  test("finds that the last events of a silent publisher are missing", async () => {
    await publish(1, 2);
    await broker.nats.manager.streams.purge("CATALOG");
    heal();
    await waitFor(async () => (await effects()).length === 2);
  });

  test("leaves alone what is merely unread, and takes it as lost once the place is passed", async () => {
    let place = 0n;
    await publish(1, 2);
    let asked = 0;
    heal({
      passed: async (_stream, sequence) => {
        asked++;
        return place >= sequence;
      },
    });
    await waitFor(() => asked > 4);
    expect(await effects()).toEqual([]);
    expect((await missingRanges(pool)).length).toBe(1);
    place = 1_000_000n;
    await waitFor(async () => (await effects()).length === 2);
  });

  test("without that check, what is merely unread is fetched a second time", async () => {
    await publish(1, 2);
    heal();
    await waitFor(async () => (await effects()).length === 2);
  });

  test("a stream made anew meanwhile, with smaller numbers, does not keep it waiting for the old ones", async () => {
    await publish(1, 3);
    heal({
      missingForMs: 300,
      // As of a consumer that has read everything.
      passed: async (stream, sequence) =>
        sequence <= BigInt((await broker.nats.manager.streams.info(stream)).state.last_seq),
    });
    await waitFor(async () => (await missingRanges(pool)).length === 1);
    await broker.nats.manager.streams.delete("CATALOG");
    await ensureStreams(broker.nats);
    await waitFor(async () => (await effects()).length === 3);
  });

  test("an event and its replay have one effect", async () => {
    relayAndConsume();
    heal({ missingForMs: 0, everyMs: 5 });
    for (const round of upTo(20)) await append(publisher.pool, names(round * 5, round * 5 + 4));
    await waitFor(async () => (await effects()).length >= 100);
    await waitFor(async () => (await missingRanges(pool)).length === 0);
    expect((await effects()).length).toBe(100);
  });

  test("reports what the publisher keeps no more, gives it up, and heals the rest", async () => {
    await publish(1, 5);
    await publisher.pool.query(
      "update lapse_kit.outbox set published_at = now() - interval '8 days' where sequence <= 3",
    );
    await cleanOutbox(publisher.pool, 7);
    const lost: string[] = [];
    heal({
      onLost: async (_tx, { from, to }) => {
        lost.push(`${from}-${to}`);
      },
    });
    await waitFor(async () => (await effects()).length === 2);
    expect(await effects()).toEqual(["e4", "e5"]);
    expect(lost).toEqual(["1-3"]);
    await waitFor(async () => (await missingRanges(pool)).length === 0);
    expect(await metricValue(metrics, "lapse_inbox_lost_total")).toBe(3);
  });

  test("what is gone stays missing where nobody takes note of it", async () => {
    await publish(1, 2);
    await publisher.pool.query("update lapse_kit.outbox set published_at = '2020-01-01'");
    await cleanOutbox(publisher.pool, 7);
    heal();
    await waitFor(async () => (await missingRanges(pool)).length === 1);
    await waitFor(async () => (await metricValue(metrics, "lapse_inbox_missing")) === 2);
  });

  test("one publisher that is away does not keep the others from being healed", async () => {
    await publish(1, 2);
    const away: OutboxClient = {
      getOutboxHead: () => Promise.reject(unavailable("DEPENDENCY_UNAVAILABLE", "away")),
      replayOutbox: async function* () {},
    };
    heal({ sources: { "lapse.away": away, [source]: client() } });
    await waitFor(async () => (await effects()).length === 2);
  });

  test("one publisher that does not answer keeps no other waiting, nor the healer from stopping", async () => {
    await publish(1, 2);
    const never: OutboxClient = {
      getOutboxHead: (_request, options) =>
        new Promise((_resolve, reject) => {
          options?.signal?.addEventListener("abort", () => reject(new Error("given up")));
        }),
      replayOutbox: async function* () {},
    };
    heal({ sources: { "lapse.never": never, [source]: client() } });
    await waitFor(async () => (await effects()).length === 2);
    await publish(3, 3);
    await waitFor(async () => (await effects()).length === 3);
  });

  test("one event that cannot be handled does not keep the others of its range back", async () => {
    await publish(1, 5);
    heal({
      onReplay: async (deliveries) => {
        if (deliveries.some(({ event }) => event.subject === "e3")) throw new Error("poison");
        await takeIn(deliveries);
      },
    });
    await waitFor(async () => (await effects()).length === 4);
    expect(await effects()).toEqual(["e1", "e2", "e4", "e5"]);
    expect((await missingRanges(pool)).map(({ from, to }) => [from, to])).toEqual([[3n, 3n]]);
  });
});
