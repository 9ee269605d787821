import { type Item, toItem } from "./consumer-settle.ts";
import type { Delivery } from "./delivery.ts";
import {
  contiguous,
  type FoldConsumer,
  MOST_PULLS,
  PULL_BYTES,
  pullBatch,
} from "./fold-consumer.ts";
import type { Pulled } from "./pull.ts";
import type { PulledMessage } from "./pulled-message.ts";

/** Why there is no further batch: messages right after the position are gone, or the consumer is of no use. */
export type IntakeEnd = { readonly hole: { readonly next: bigint } } | { readonly hole: null };

/** Bounds what one batch holds in memory, whatever the size of a message; its last pull may go beyond it. */
const BATCH_BYTES = 4 * PULL_BYTES;
/** A batch that takes longer to be handled than this was too large. */
const SLOW_MS = 10_000;

/**
 * Pulls what follows a fold's position while the batch before it is handled, so that the next batch is what
 * came meanwhile: small where little comes, and the larger the further the fold is behind, as long as a
 * batch is handled in ten seconds and fits into memory.
 */
export class FoldIntake {
  readonly #consumer: FoldConsumer;
  readonly #from: bigint;
  readonly #onPulled: (deliveries: readonly Delivery[]) => void;
  readonly #pulling: Promise<void>;
  #items: Item[] = [];
  #bytes = 0;
  /** Messages that a batch may have. */
  #limit: number;
  /** The next message to take in; and the next to be handled, everything before it being done. */
  #expected: bigint;
  #unhandled: bigint;
  #takenAt = 0;
  #waitingSince: number | undefined;
  #end: IntakeEnd | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Who waits for a change of the above. */
  #waiting: (() => void)[] = [];

  constructor(
    consumer: FoldConsumer,
    from: bigint,
    onPulled: (deliveries: readonly Delivery[]) => void,
  ) {
    this.#consumer = consumer;
    this.#from = from;
    this.#onPulled = onPulled;
    this.#limit = MOST_PULLS * consumer.batch;
    this.#expected = from;
    this.#unhandled = from;
    this.#pulling = this.#pullOn().catch((error: unknown) => {
      this.#failure = { error };
      this.end();
    });
  }

  /** How long a request for messages has been waiting in vain. */
  get idleMs(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
  }

  /** The next batch, as soon as there is anything; or why there will be none. */
  async take(): Promise<readonly Item[] | IntakeEnd> {
    while (this.#items.length === 0 && !this.#end) await this.#changed();
    if (this.#failure) throw this.#failure.error;
    const batch = this.#items;
    if (batch.length === 0 && this.#end) return this.#end;
    this.#items = [];
    this.#bytes = 0;
    this.#takenAt = performance.now();
    this.#change();
    return batch;
  }

  /** The batch is handled: all of it is acknowledged, and the next had better be smaller, or may be larger again. */
  handled(batch: readonly Item[]): void {
    const last = batch.at(-1)?.message;
    if (!last) return;
    this.#unhandled = last.streamSequence + 1n;
    last.ack();
    const { batch: least } = this.#consumer;
    const slow = performance.now() - this.#takenAt > SLOW_MS;
    this.#limit = slow
      ? Math.max(least, Math.floor(batch.length / 2))
      : Math.min(2 * this.#limit, MOST_PULLS * least);
  }

  /** Takes in nothing more; what is in hand can still be taken. */
  end(reason: IntakeEnd = { hole: null }): void {
    this.#end ??= reason;
    this.#waitingSince = undefined;
    this.#change();
  }

  /** Resolves when nothing is outstanding any more. */
  async close(): Promise<void> {
    this.end();
    await this.#pulling;
  }

  async #pullOn(): Promise<void> {
    let alone = false;
    for (;;) {
      while (!this.#end && this.#isFull()) await this.#changed();
      if (this.#end) return;
      this.#waitingSince ??= performance.now();
      const pulled = await pullBatch(this.#consumer, { alone });
      this.#takeIn(pulled);
      alone = pulled.end === "too_large";
    }
  }

  #isFull(): boolean {
    const full = this.#items.length >= this.#limit || this.#bytes >= BATCH_BYTES;
    if (full) this.#waitingSince = undefined;
    return full;
  }

  #takeIn({ messages, end }: Pulled): void {
    if (this.#end) return;
    const fresh = messages.filter(({ streamSequence }) => streamSequence >= this.#expected);
    const [first] = fresh;
    if (first && first.streamSequence > this.#expected) {
      // Only the first batch of a consumer placed here proves that there is nothing in between.
      const isFirst = this.#expected === this.#from;
      this.end({ hole: isFirst ? { next: first.streamSequence } : null });
      return;
    }
    const run = contiguous(fresh, this.#expected);
    if (run.length > 0) this.#add(run);
    // Those that came once more; what is not handled yet is acknowledged with its batch.
    messages.findLast(({ streamSequence }) => streamSequence < this.#unhandled)?.ack();
    if (run.length < fresh.length || end === "silent" || end === "consumer_gone") this.end();
  }

  #add(run: readonly PulledMessage[]): void {
    const items = run.map(toItem);
    this.#items.push(...items);
    this.#expected += BigInt(run.length);
    for (const { raw } of run) this.#bytes += raw.data.length;
    this.#waitingSince = undefined;
    this.#onPulled(items.flatMap(({ delivery }) => ("unreadable" in delivery ? [] : delivery)));
    this.#change();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #change(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
