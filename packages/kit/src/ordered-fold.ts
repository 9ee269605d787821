import { type BackoffRange, backoffMs, pause } from "./backoff.ts";
import { type ConsumerMetrics, consumerMetrics } from "./consumer-metrics.ts";
import type { Item } from "./consumer-settle.ts";
import type { Delivery } from "./delivery.ts";
import { ensureStream } from "./ensure-streams.ts";
import { toLapseError } from "./errors.ts";
import { type FoldConsumer, placeConsumer } from "./fold-consumer.ts";
import { FoldIntake } from "./fold-intake.ts";
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
  /** Messages that are asked for at once; 500 unless given. A batch grows to eight times that when much waits. */
  readonly batch?: number;
  /** The stored position; asked at the start and after every fault. */
  position(): Promise<FoldPosition>;
  /**
   * Called with what has come, maybe while the batch before it is handled: for work on it that needs no
   * transaction. Each is in a batch later, unless the fold starts again in between.
   */
  onPulled?(deliveries: readonly Delivery[]): void;
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
  #intake: FoldIntake | undefined;

  constructor(options: OrderedFoldOptions) {
    const { nats, stream, consumerName, batch = BATCH, log } = options;
    this.#options = options;
    this.#consumer = { nats, stream, name: consumerName, batch };
    this.#metrics = consumerMetrics(options.metrics, consumerName);
    this.#watch = watchFold({
      consumer: this.#consumer,
      metrics: this.#metrics,
      log,
      idleMs: () => this.#intake?.idleMs ?? 0,
      onStalled: () => {
        this.#stalled = true;
        this.#intake?.end();
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
    const { onPulled = () => undefined } = this.#options;
    const { signal } = this.#stop;
    // Stopped while the consumer was placed: the event is over, and nothing would end the intake.
    if (signal.aborted) return;
    const intake = new FoldIntake(this.#consumer, from, onPulled);
    const end = () => intake.end();
    signal.addEventListener("abort", end);
    this.#intake = intake;
    try {
      for (;;) {
        const taken = await intake.take();
        // What is in hand is not lost: the consumer is placed anew before anything is read again.
        if (signal.aborted || this.#stalled) return;
        if ("hole" in taken) {
          const { hole } = taken;
          if (hole) await this.#lose(this.#hole(from, hole.next, streamCreatedAt));
          return;
        }
        await this.#fold(taken, streamCreatedAt);
        intake.handled(taken);
        onProgress();
      }
    } finally {
      signal.removeEventListener("abort", end);
      this.#intake = undefined;
      await intake.close();
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
