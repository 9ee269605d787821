import { type BackoffRange, backoffMs, pause } from "./backoff.ts";
import { type Item, type SettleDeps, settle, toItem } from "./consumer-settle.ts";
import { type PullEnd, type Pulled, pull } from "./pull.ts";
import type { PulledMessage } from "./pulled-message.ts";
import type { StreamName } from "./streams.ts";
import { matchesSubject } from "./subjects.ts";

export interface WorkerDeps extends Omit<SettleDeps, "signal"> {
  readonly stream: StreamName;
  readonly batch: number;
  readonly filters: readonly string[];
  /** A message is ours from now on. */
  take(message: PulledMessage): void;
  /** Makes what the consumer needs on the server. */
  ensure(): Promise<void>;
}

/** Bounds how long stopping takes. */
const PULL_WAIT_MS = 500;
const SHORTEST_WAIT_MS = 50;
const HOLD: BackoffRange = { firstMs: 250, mostMs: 30_000 };
const RECOVER: BackoffRange = { firstMs: 250, mostMs: 5_000 };
/** The server answers at once with nothing while other requests wait for the same messages. */
const AT_ONCE_MS = 50;

/**
 * One loop of a consumer: take a batch, have it handled, settle it. What is held for a later try counts
 * against the batch, so while everything fails nothing more is taken, and while one message fails its
 * neighbours go on.
 */
export class ConsumerWorker {
  readonly done: Promise<void>;
  readonly #deps: WorkerDeps;
  readonly #stop = new AbortController();
  #held: Item[] = [];
  #heldFailures = 0;
  #heldUntil = 0;
  #waitingSince: number | undefined;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.done = this.#run();
  }

  /** How long it has been waiting for a message in vain; 0 while it has something to do. */
  get idleMs(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
  }

  /** Ends after what is being handled; gives the rest back. */
  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      try {
        await this.#deps.ensure();
        failures = 0;
        await this.#consume();
        this.#deps.metrics.restarted();
      } catch (error) {
        if (signal.aborted) break;
        this.#deps.log.warn(
          { err: error, consumer: this.#deps.consumer },
          "a consumer is set up again",
        );
        await pause(backoffMs(failures++, RECOVER), signal);
      }
    }
    for (const { message } of this.#held) {
      message.nak();
      this.#deps.release(message);
    }
  }

  /** Returns when stopped, or when the consumer has to be looked after. */
  async #consume(): Promise<void> {
    const { nats, log, consumer, batch } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const wait = this.#held.length > 0 ? this.#heldUntil - performance.now() : PULL_WAIT_MS;
      if (this.#held.length >= batch) await pause(wait, signal);
      else if (wait > 0) {
        await nats.whenConnected(signal);
        const started = performance.now();
        const end = await this.#take(batch - this.#held.length, wait);
        if (end === "silent" && !nats.connected) continue;
        if (end === "silent" || end === "consumer_gone") {
          log.warn({ consumer, end }, "the broker does not deliver to a consumer");
          return;
        }
        const idle = this.#waitingSince !== undefined;
        if (idle && end === "answered" && performance.now() - started < AT_ONCE_MS) {
          await pause(AT_ONCE_MS, signal);
        }
      }
      if (this.#held.length > 0 && performance.now() >= this.#heldUntil) await this.#retryHeld();
    }
  }

  async #take(count: number, waitMs: number): Promise<PullEnd> {
    const { nats, stream, consumer } = this.#deps;
    this.#waitingSince ??= performance.now();
    const pulled = await pull(nats.connection, {
      stream,
      consumer,
      batch: count,
      waitMs: Math.round(Math.min(PULL_WAIT_MS, Math.max(SHORTEST_WAIT_MS, waitMs))),
    });
    if (pulled.messages.length > 0) {
      this.#waitingSince = undefined;
      await this.#handle(this.#wanted(pulled));
    }
    return pulled.end;
  }

  /** Ours from here on; what the filter would have kept out on a newer server is acknowledged. */
  #wanted({ messages }: Pulled): Item[] {
    const { filters, take, metrics } = this.#deps;
    const wanted: Item[] = [];
    for (const message of messages) {
      if (!filters.some((filter) => matchesSubject(filter, message.subject))) message.ack();
      else {
        take(message);
        wanted.push(toItem(message));
      }
    }
    metrics.redelivered(messages.filter(({ deliveryCount }) => deliveryCount > 1).length);
    return wanted;
  }

  async #handle(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return;
    const held = await settle(items, { ...this.#deps, signal: this.#stop.signal });
    if (held.length > 0) this.#hold(held, held.length < items.length);
  }

  async #retryHeld(): Promise<void> {
    // Much may have happened on the server meanwhile; a stream made anew has other messages under their numbers.
    await this.#deps.ensure();
    const items = this.#held;
    this.#held = [];
    await this.#handle(items);
    if (this.#held.length === 0) this.#heldFailures = 0;
  }

  #hold(items: readonly Item[], progress: boolean): void {
    this.#heldFailures = progress ? 0 : this.#heldFailures + 1;
    const wait = backoffMs(this.#heldFailures, HOLD);
    this.#held.push(...items);
    this.#heldUntil = performance.now() + wait;
    if (this.#stop.signal.aborted) return;
    this.#deps.log.warn(
      { consumer: this.#deps.consumer, messages: this.#held.length, waitMs: Math.round(wait) },
      "messages wait for what they depend on",
    );
  }
}
