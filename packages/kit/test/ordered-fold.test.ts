import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import {
  createMetrics,
  type Delivery,
  ensureStreams,
  type FoldBatch,
  type FoldPosition,
  type Loss,
  listParked,
  type Metrics,
  type Nats,
  type OrderedFoldOptions,
  type Stoppable,
  startOrderedFold,
} from "../src/index.ts";
import { encodeActivity, idOf, numbered, publishActivity, READ } from "./support/activity.ts";
import { kitNats, log, metricValue } from "./support/setup.ts";

let broker: Awaited<ReturnType<typeof kitNats>>;
let nats: Nats;
let metrics: Metrics;
let folds: Stoppable[] = [];

beforeAll(async () => {
  broker = await kitNats();
  nats = broker.nats;
});
afterAll(() => broker.close());
beforeEach(async () => {
  metrics = createMetrics("test");
  await nats.manager.streams.delete("ACTIVITY");
  await nats.manager.streams.purge("PARKED");
  await ensureStreams(nats);
});
afterEach(async () => {
  await broker.server.start();
  await nats.whenConnected();
  await Promise.all(folds.map((fold) => fold.stop()));
  folds = [];
});

/** What a writer keeps in its database: effects and position change together. */
class Store {
  folded: string[] = [];
  losses: Loss[] = [];
  at: FoldPosition = { sequence: 0n, streamCreatedAt: null };

  /** Refuses what does not follow on, as a writer's transaction would. */
  apply(deliveries: readonly Delivery[], batch: FoldBatch): void {
    if (batch.firstSequence !== this.at.sequence + 1n) {
      throw new Error(`a batch from ${batch.firstSequence} does not follow ${this.at.sequence}`);
    }
    this.folded.push(...deliveries.map(idOf));
    this.at = { sequence: batch.lastSequence, streamCreatedAt: batch.streamCreatedAt };
  }
}

function fold(store: Store, options: Partial<OrderedFoldOptions> = {}): Stoppable {
  const started = startOrderedFold({
    nats,
    stream: "ACTIVITY",
    consumerName: "fold",
    position: async () => store.at,
    handle: async (deliveries, batch) => store.apply(deliveries, batch),
    onLoss: async (loss) => {
      store.losses.push(loss);
      store.at = loss.resumeAt;
    },
    log,
    metrics,
    ...options,
  });
  folds.push(started);
  return started;
}

const publish = (ids: readonly string[]) => publishActivity(nats, ids);
const lastSequence = async () => (await nats.manager.streams.info("ACTIVITY")).state.last_seq;

describe("startOrderedFold", () => {
  test("folds everything in order and exactly once, and moves the position with it", async () => {
    const store = new Store();
    await publish(numbered(0, 30));
    fold(store, { batch: 7 });
    await publish(numbered(30, 20));
    await waitFor(() => store.folded.length === 50);
    expect(store.folded).toEqual(numbered(0, 50));
    expect(store.at.sequence).toBe(50n);
    expect(store.losses).toEqual([]);
  });

  test("acknowledges what it has folded, so that its lag is seen", async () => {
    const store = new Store();
    await publish(numbered(0, 20));
    fold(store, { batch: 5 });
    await waitFor(async () => {
      const info = await nats.manager.consumers.info("ACTIVITY", "fold");
      return info.num_pending === 0 && info.num_ack_pending === 0 && store.at.sequence === 20n;
    });
  });

  test("goes on at the stored position, whatever the consumer on the server had got to", async () => {
    const store = new Store();
    await publish(numbered(0, 10));
    const first = fold(store);
    await waitFor(() => store.folded.length === 10);
    await first.stop();
    store.folded = [];
    store.at = { ...store.at, sequence: 4n };
    fold(store);
    await waitFor(() => store.folded.length === 6);
    expect(store.folded).toEqual(numbered(4, 6));
  });

  test("a batch whose transaction fails is delivered again, as often as it takes", async () => {
    const store = new Store();
    let failures = 3;
    fold(store, {
      handle: async (deliveries, batch) => {
        if (failures-- > 0) throw new Error("the transaction failed");
        store.apply(deliveries, batch);
      },
    });
    await publish(numbered(0, 5));
    await waitFor(() => store.folded.length === 5);
    expect(store.folded).toEqual(numbered(0, 5));
    expect(store.losses).toEqual([]);
  });

  test("a transaction whose outcome was not known to it is not folded twice", async () => {
    const store = new Store();
    let unknown = true;
    fold(store, {
      handle: async (deliveries, batch) => {
        store.apply(deliveries, batch);
        if (unknown) {
          unknown = false;
          throw new Error("the connection broke during commit");
        }
      },
    });
    await publish(numbered(0, 5));
    await waitFor(() => store.folded.length === 5);
    await publish(["t5"]);
    await waitFor(() => store.folded.length === 6);
    expect(store.folded).toEqual(numbered(0, 6));
  });

  test("goes on when the broker is killed and started again", async () => {
    const store = new Store();
    fold(store);
    await publish(numbered(0, 20));
    await waitFor(() => store.folded.length === 20);
    await broker.server.kill();
    await waitFor(() => !nats.connected);
    await broker.server.start();
    await nats.whenConnected();
    const back = performance.now();
    await publish(numbered(20, 20));
    await waitFor(() => store.folded.length === 40);
    expect(performance.now() - back).toBeLessThan(5_000);
    expect(store.folded).toEqual(numbered(0, 40));
    expect(store.losses).toEqual([]);
  });

  test("goes on when its consumer is deleted", async () => {
    const store = new Store();
    fold(store);
    await publish(numbered(0, 5));
    await waitFor(() => store.folded.length === 5);
    await nats.manager.consumers.delete("ACTIVITY", "fold");
    await publish(numbered(5, 5));
    await waitFor(() => store.folded.length === 10);
    expect(store.folded).toEqual(numbered(0, 10));
    expect(store.losses).toEqual([]);
  });

  test("takes bodies that together exceed what a batch may hold in memory in several batches", async () => {
    const store = new Store();
    const large = new Uint8Array(900_000).fill(32);
    for (let nth = 0; nth < 20; nth++) {
      await nats.publish(READ, large, { "content-type": "text/plain" }, { msgId: `large-${nth}` });
    }
    const sizes: number[] = [];
    fold(store, {
      handle: async (deliveries, batch) => {
        sizes.push(deliveries.length);
        store.apply([], batch);
      },
    });
    await waitFor(() => sizes.reduce((sum, size) => sum + size, 0) === 20);
    expect(sizes.length).toBeGreaterThan(1);
  });

  test("takes in, while a batch is handled, what comes meanwhile as the next one, however often it is pulled", async () => {
    const store = new Store();
    await publish(numbered(0, 3));
    const sizes: number[] = [];
    const pulled: string[] = [];
    fold(store, {
      batch: 5,
      onPulled: (deliveries) => pulled.push(...deliveries.map(idOf)),
      handle: async (deliveries, batch) => {
        if (sizes.length === 0) {
          await publish(numbered(3, 25));
          await waitFor(() => pulled.length === 28);
        }
        sizes.push(deliveries.length);
        store.apply(deliveries, batch);
      },
    });
    await waitFor(() => store.folded.length === 28);
    expect(store.folded).toEqual(numbered(0, 28));
    expect(sizes).toEqual([3, 25]);
    expect(pulled).toEqual(store.folded);
  });

  test("holds no more in memory than a batch in hand and the next one, and goes on when that is taken", async () => {
    const store = new Store();
    let pulled = 0;
    await publish(numbered(0, 40));
    fold(store, {
      batch: 2,
      onPulled: (deliveries) => {
        pulled += deliveries.length;
      },
      handle: async (deliveries, batch) => {
        if (store.folded.length === 0) {
          // The one in hand is of one pull; the next may have eight.
          await waitFor(() => pulled >= 16);
          await publish(["late"]);
          expect(pulled).toBeLessThanOrEqual(18);
        }
        store.apply(deliveries, batch);
      },
    });
    await waitFor(() => store.folded.length === 41);
    expect(store.folded).toEqual([...numbered(0, 40), "late"]);
  });

  test("stops after the batch in hand, soon, also while nothing comes", async () => {
    const store = new Store();
    const started = fold(store);
    await publish(["a"]);
    await waitFor(() => store.folded.length === 1);
    const since = performance.now();
    await started.stop();
    expect(performance.now() - since).toBeLessThan(2_000);
  });
});

describe("poison in a fold", () => {
  test("what cannot be read is parked, and the position passes it", async () => {
    const store = new Store();
    await publish(["a"]);
    const headers = { "ce-specversion": "1.0", "ce-subject": "%FF" };
    await nats.publish(READ, encodeActivity("x"), headers, { msgId: "unreadable" });
    await publish(["b"]);
    fold(store);
    await waitFor(() => store.folded.length === 2);
    expect(store.at.sequence).toBe(3n);
    const { items } = await listParked(nats);
    expect(items.map(({ streamSequence }) => streamSequence)).toEqual([2n]);
  });

  test("what the handler names is parked before the position passes it", async () => {
    const store = new Store();
    await publish(["a", "poison", "b"]);
    fold(store, {
      handle: async (deliveries, batch) => {
        const good = deliveries.filter((each) => idOf(each) !== "poison");
        for (const bad of deliveries.filter((each) => !good.includes(each))) {
          await batch.park(bad, "EVENT_INVALID: no such thing");
        }
        expect((await listParked(nats)).items.length).toBe(1);
        store.apply(good, batch);
      },
    });
    await waitFor(() => store.at.sequence === 3n);
    expect(store.folded).toEqual(["a", "b"]);
    const { items } = await listParked(nats);
    expect(items[0]).toMatchObject({ reason: "EVENT_INVALID: no such thing", consumer: "fold" });
    expect(await metricValue(metrics, "lapse_parked_total")).toBe(1);
  });
});

describe("lost messages", () => {
  test("between the position and the first that is left are reported before anything after them", async () => {
    const store = new Store();
    await publish(numbered(0, 10));
    const first = fold(store);
    await waitFor(() => store.folded.length === 10);
    await first.stop();
    await publish(numbered(10, 10));
    await nats.manager.streams.purge("ACTIVITY", { seq: 16 });
    const order: string[] = [];
    fold(store, {
      handle: async (deliveries, batch) => {
        order.push("batch");
        store.apply(deliveries, batch);
      },
      onLoss: async (loss) => {
        order.push("loss");
        store.losses.push(loss);
        store.at = loss.resumeAt;
      },
    });
    await waitFor(() => store.folded.length === 15);
    expect(order[0]).toBe("loss");
    expect(store.losses).toMatchObject([
      { kind: "messages_gone", stream: "ACTIVITY", missing: { from: 11n, to: 15n } },
    ]);
    expect(store.folded.slice(10)).toEqual(numbered(15, 5));
  });

  test("all of them, with none left after them, are reported all the same", async () => {
    const store = new Store();
    await publish(numbered(0, 5));
    await nats.manager.streams.purge("ACTIVITY");
    fold(store);
    await waitFor(() => store.losses.length === 1);
    expect(store.losses).toMatchObject([{ missing: { from: 1n, to: 5n } }]);
    expect(store.at.sequence).toBe(5n);
  });

  test("in the middle of the stream are reported, and the rest is folded", async () => {
    const store = new Store();
    await publish(numbered(0, 10));
    for (const seq of [4, 5, 8]) await nats.manager.streams.deleteMessage("ACTIVITY", seq);
    fold(store);
    await waitFor(() => store.at.sequence === 10n);
    expect(store.folded).toEqual(["t0", "t1", "t2", "t5", "t6", "t8", "t9"]);
    expect(store.losses.map(({ missing }) => missing)).toEqual([
      { from: 4n, to: 5n },
      { from: 8n, to: 8n },
    ]);
  });

  test("of a stream that was wiped under way are reported, and the new one is folded from its start", async () => {
    const store = new Store();
    fold(store);
    await publish(numbered(0, 8));
    await waitFor(() => store.folded.length === 8);
    await nats.manager.streams.delete("ACTIVITY");
    // The fold makes it again.
    await waitFor(() => nats.manager.streams.info("ACTIVITY").then(() => true));
    await publish(["new"]);
    await waitFor(() => store.folded.includes("new"));
    expect(store.losses).toMatchObject([{ kind: "stream_recreated" }]);
    expect(store.at.sequence).toBe(BigInt(await lastSequence()));
  });

  test("of a stream that was replaced while nobody looked are reported, though its numbers go further", async () => {
    const store = new Store();
    await publish(numbered(0, 3));
    const first = fold(store);
    await waitFor(() => store.folded.length === 3);
    await first.stop();
    await nats.manager.streams.delete("ACTIVITY");
    await ensureStreams(nats);
    await publish(numbered(100, 5));
    fold(store);
    await waitFor(() => store.folded.length === 8);
    expect(store.losses).toMatchObject([{ kind: "stream_recreated" }]);
    expect(store.folded.slice(3)).toEqual(numbered(100, 5));
  });

  test("are reported again when recording them failed", async () => {
    const store = new Store();
    await publish(numbered(0, 5));
    await nats.manager.streams.purge("ACTIVITY");
    let calls = 0;
    fold(store, {
      onLoss: async (loss) => {
        if (++calls < 3) throw new Error("the transaction failed");
        store.losses.push(loss);
        store.at = loss.resumeAt;
      },
    });
    await waitFor(() => store.losses.length === 1);
    expect(calls).toBe(3);
  });

  test("of a stream with a size limit, which some servers drop though they acknowledged them, are all reported", async () => {
    // nats-server 2.9.10 checks the limit by the body and enforces it by the record, oldest first.
    await nats.manager.streams.update("ACTIVITY", { max_bytes: 10_000 });
    let acknowledged = 0;
    for (const id of numbered(0, 150)) {
      await publish([id]).then(
        () => acknowledged++,
        () => undefined,
      );
    }
    const store = new Store();
    fold(store);
    await waitFor(async () => store.at.sequence === BigInt(await lastSequence()));
    const lost = store.losses.reduce(
      (sum, { missing }) => sum + (missing ? Number(missing.to - missing.from) + 1 : 0),
      0,
    );
    expect(store.folded.length + lost).toBe(acknowledged);
  });

  test("nothing is reported by a fold that begins with its stream", async () => {
    const store = new Store();
    fold(store);
    await publish(["a"]);
    await waitFor(() => store.folded.length === 1);
    expect(store.losses).toEqual([]);
  });
});
