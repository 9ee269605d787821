import { type BackoffRange, backoffMs, pause } from "./backoff.ts";
import { type ConsumerMetrics, consumerMetrics } from "./consumer-metrics.ts";
import { type Item, toItem } from "./consumer-settle.ts";
import type { Delivery } from "./delivery.ts";
import { ensureStream } from "./ensure-streams.ts";
import { toLapseError } from "./errors.ts";
import { contiguous, type FoldConsumer, placeConsumer, pullBatch } from "./fold-consumer.ts";
import { type FoldPosition, type Loss, lossOf } from "./fold-loss.ts";
import { watchFold } from "./fold-watch.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Nats } from "./nats.ts";
import { type ParkedPart, park } from "./park.ts";
import { type Stoppable, stoppable } from "./stoppable.ts";
import type { StreamName } from "./streams.ts";

/** What a batch of a fold is, besides its deliveries. */
export interface FoldBatch {
  readonly stream: StreamName;
  /** The batch begins right after the position; unreadable messages, which are parked, count as in it. */
  readonly firstSequence: bigint;
  /** The position to store with the effect of the batch. */
  readonly lastSequence: bigint;
  /** To be stored with it. */
  readonly streamCreatedAt: Date;
  /** Puts a poisonous delivery of the batch, or the part of it that is, aside. Await it before the transaction commits. */
  park(delivery: Delivery, reason: string, part?: ParkedPart): Promise<void>;
}

export interface OrderedFoldOptions {
  readonly nats: Nats;
  readonly stream: StreamName;
  /** Of the consumer on the server, for its lag; one process at a time runs this fold. */
  readonly consumerName: string;
  /** Messages per batch at most; 500 unless given. */
  readonly batch?: number;
  /** The stored position; asked at the start and after every fault. */
  position(): Promise<FoldPosition>;
  /**
   * Applies the batch and stores `lastSequence` and `streamCreatedAt` as the position, in one transaction.
   * Whatever it throws has the batch delivered again, for as long as it takes.
   */
  handle(deliveries: readonly Delivery[], batch: FoldBatch): Promise<void>;
  /** Records the loss and stores `resumeAt` as the position, in one transaction. */
  onLoss(loss: Loss): Promise<void>;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const BATCH = 500;
const RECOVER: BackoffRange = { firstMs: 100, mostMs: 5_000 };

/**
 * Folds a stream in order and exactly once with respect to the stream: the truth is the stored position, the
 * consumer on the server only follows it. Every batch begins right after the position; what cannot be had any
 * more is reported before anything after it is folded.
 */
export function startOrderedFold(options: OrderedFoldOptions): Stoppable {
  const fold = new OrderedFold(options);
  return stoppable(() => fold.stop());
}

class OrderedFold {
  readonly #options: OrderedFoldOptions;
  readonly #consumer: FoldConsumer;
  readonly #metrics: ConsumerMetrics;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #watch: Stoppable;
  /** Set when the consumer on the server is of no use any more. */
  #stalled = false;
  #waitingSince: number | undefined;

  constructor(options: OrderedFoldOptions) {
    const { nats, stream, consumerName, batch = BATCH, log } = options;
    this.#options = options;
    this.#consumer = { nats, stream, name: consumerName, batch };
    this.#metrics = consumerMetrics(options.metrics, consumerName);
    this.#watch = watchFold({
      consumer: this.#consumer,
      metrics: this.#metrics,
      log,
      idleMs: () => (this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince),
      onStalled: () => {
        this.#stalled = true;
      },
    });
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#watch.stop();
  }

  async #run(): Promise<void> {
    const { nats, log, consumerName } = this.#options;
    const { signal } = this.#stop;
    let failures = 0;
    const onProgress = () => {
      failures = 0;
    };
    while (!signal.aborted) {
      await nats.whenConnected(signal);
      try {
        await this.#foldFromPosition(onProgress);
        this.#metrics.restarted();
        await pause(RECOVER.firstMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: toLapseError(error), consumer: consumerName }, "a fold starts again");
        await pause(backoffMs(failures++, RECOVER), signal);
      }
    }
  }

  /** Returns when the consumer has to be placed anew. */
  async #foldFromPosition(onProgress: () => void): Promise<void> {
    const { nats, stream, position } = this.#options;
    const at = await position();
    const info = await ensureStream(nats, stream);
    const loss = lossOf(at, info);
    if (loss) return this.#lose(loss);
    const next = at.sequence + 1n;
    await placeConsumer(this.#consumer, next);
    this.#stalled = false;
    await this.#follow(next, new Date(info.created), onProgress);
  }

  async #follow(from: bigint, streamCreatedAt: Date, onProgress: () => void): Promise<void> {
    let expected = from;
    this.#waitingSince = performance.now();
    let pulling = pullBatch(this.#consumer);
    for (;;) {
      const { messages, end } = await pulling;
      // What is in hand is not lost: the consumer is placed anew before anything is read again.
      if (this.#stop.signal.aborted || this.#stalled) return;
      const fresh = messages.filter(({ streamSequence }) => streamSequence >= expected);
      const [first] = fresh;
      if (first && first.streamSequence > expected) {
        // Only the first batch of a consumer placed here proves that there is nothing in between.
        if (expected !== from) return;
        return this.#lose(this.#hole(expected, first.streamSequence, streamCreatedAt));
      }
      const run = contiguous(fresh, expected);
      const broken = run.length < fresh.length || end === "silent" || end === "consumer_gone";
      if (!broken) pulling = pullBatch(this.#consumer, { alone: end === "too_large" });
      if (run.length > 0) {
        this.#waitingSince = undefined;
        await this.#fold(run.map(toItem), streamCreatedAt);
        this.#waitingSince = performance.now();
        expected += BigInt(run.length);
        onProgress();
      }
      // Acknowledges all before it, those that came once more included.
      messages.findLast(({ streamSequence }) => streamSequence < expected)?.ack();
      if (broken) return;
    }
  }

  async #fold(items: readonly Item[], streamCreatedAt: Date): Promise<void> {
    const [first] = items;
    const last = items.at(-1);
    if (!first || !last) return;
    const messages = new Map<Delivery, Item["message"]>();
    for (const { delivery, message } of items) {
      if ("unreadable" in delivery) await this.#park(message, delivery.unreadable);
      else messages.set(delivery, message);
    }
    const started = performance.now();
    await this.#options.handle([...messages.keys()], {
      stream: this.#options.stream,
      firstSequence: first.message.streamSequence,
      lastSequence: last.message.streamSequence,
      streamCreatedAt,
      park: async (delivery, reason, part) => {
        const message = messages.get(delivery);
        if (!message) throw new Error("only a delivery of this batch can be parked with it");
        await this.#park(message, reason, part);
      },
    });
    this.#metrics.seconds((performance.now() - started) / 1_000);
    this.#metrics.processed(items.length);
    this.#metrics.redelivered(items.filter(({ message }) => message.deliveryCount > 1).length);
  }

  async #park(message: Item["message"], reason: string, part?: ParkedPart): Promise<void> {
    const { nats, consumerName, log } = this.#options;
    await park(nats, { message, consumer: consumerName, reason, part });
    this.#metrics.parked(1);
    const { subject, stream, streamSequence } = message;
    log.error(
      { reason, subject, stream, sequence: String(streamSequence) },
      "a message was parked",
    );
  }

  #hole(from: bigint, next: bigint, streamCreatedAt: Date): Loss {
    const to = next - 1n;
    const resumeAt = { sequence: to, streamCreatedAt };
    return { kind: "messages_gone", stream: this.#options.stream, missing: { from, to }, resumeAt };
  }

  async #lose(loss: Loss): Promise<void> {
    const { kind, stream, missing, resumeAt } = loss;
    this.#options.log.error(
      {
        kind,
        stream,
        missing: missing && `${missing.from}-${missing.to}`,
        resumeAt: String(resumeAt.sequence),
      },
      "messages are gone before they were folded",
    );
    await this.#options.onLoss(loss);
    const { sequence } = await this.#options.position();
    if (sequence !== resumeAt.sequence) throw new Error("onLoss did not store where to go on");
  }
}
