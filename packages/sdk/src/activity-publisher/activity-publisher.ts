import type { NatsConnection } from "nats";
import { LapseInputError } from "../errors.ts";
import { Batch } from "./batch.ts";
import { ActivityNotStoredError } from "./errors.ts";
import { type Destination, sendBatch } from "./send-batch.ts";
import { type CheckedUse, checkUse, type TableUse, type UseKind } from "./table-use.ts";

export type ActivityPublisherOptions = {
  /** Which system saw the uses, e.g. `trino`: shown as the signal's coverage. At most 200 characters. */
  readonly source: string;
  /** Uses in one message, at most. Default 500; no more than 10,000. */
  readonly maxEvents?: number;
  /** How long a use waits for others to share its message, in ms. Default 50. */
  readonly maxDelayMs?: number;
  /** Uses that may wait to be stored; beyond, a call is refused at once. Default 100,000. */
  readonly maxPending?: number;
  /**
   * How long a message is tried to be stored, in ms from its first use. Default 60,000, at most 100,000: the stream tells a repeat for two
   * minutes only, and a read that is stored twice is counted twice.
   */
  readonly giveUpAfterMs?: number;
  /** How long one attempt waits for the acknowledgement, in ms. Default 5,000. */
  readonly ackTimeoutMs?: number;
};

/** Messages under way at the same time. */
const IN_FLIGHT = 8;
/** Size of a message's body, at most; a server takes 1 MB unless it was told otherwise. */
const MAX_BYTES = 256 * 1024;
const MOST_EVENTS = 10_000;
const LONGEST_GIVE_UP_MS = 100_000;
const KINDS = ["read", "written", "maintained", "changed"] as const;

/**
 * Tells Lapse over NATS that tables are used, so that they live on (T14):
 * `await new ActivityPublisher(nats, { source: "trino" }).tableRead({ tableId })`.
 *
 * Each call's promise resolves once the stream has stored the use, and rejects with an
 * {@link ActivityNotStoredError} when it was not: nothing is dropped silently. Uses are packed, many to a message, so
 * await many calls together, or `flush()`, rather than one after another. While NATS is away they wait and are sent
 * again, as long as `giveUpAfterMs` says and as many as `maxPending` says; `ready()` waits for room.
 *
 * The connection is the caller's, made with `maxReconnectAttempts: -1` so that the client does not give up by itself,
 * and stays open when the publisher is closed.
 */
export class ActivityPublisher {
  readonly #destination: Destination;
  readonly #giveUpAfterMs: number;
  readonly #limits: {
    readonly events: number;
    readonly bytes: number;
    readonly delayMs: number;
    readonly pending: number;
  };
  readonly #open = new Map<UseKind, Batch>();
  readonly #queue: Batch[] = [];
  readonly #unsettled = new Set<Promise<void>>();
  readonly #waitingForRoom = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #pending = 0;
  #inFlight = 0;
  #closed = false;

  /** @throws {LapseInputError} for an option that is out of its bounds. */
  constructor(connection: NatsConnection, options: ActivityPublisherOptions) {
    const { source, maxEvents = 500, maxDelayMs = 50, maxPending = 100_000 } = options;
    const { giveUpAfterMs = 60_000, ackTimeoutMs = 5_000 } = options;
    if (source.trim() === "" || source.length > 200) {
      throw new LapseInputError("source takes 1 to 200 characters.");
    }
    inBounds("maxEvents", maxEvents, 1, MOST_EVENTS);
    inBounds("maxDelayMs", maxDelayMs, 0, 60_000);
    inBounds("maxPending", maxPending, 1, 10_000_000);
    inBounds("giveUpAfterMs", giveUpAfterMs, maxDelayMs + 1, LONGEST_GIVE_UP_MS);
    inBounds("ackTimeoutMs", ackTimeoutMs, 1, LONGEST_GIVE_UP_MS);
    const bytes = Math.min(MAX_BYTES, (connection.info?.max_payload ?? MAX_BYTES * 2) / 2);
    this.#limits = { events: maxEvents, bytes, delayMs: maxDelayMs, pending: maxPending };
    const jetstream = connection.jetstream();
    this.#giveUpAfterMs = giveUpAfterMs;
    this.#destination = { connection, jetstream, source, ackTimeoutMs };
  }

  /** A query that succeeded has read the table. Every read is counted for its day (T17). */
  tableRead(use: TableUse): Promise<void> {
    return this.#add("read", use);
  }

  /** Rows were added, changed or removed. */
  tableWritten(use: TableUse): Promise<void> {
    return this.#add("written", use);
  }

  /** Files were rewritten without a change of data. */
  tableMaintained(use: TableUse): Promise<void> {
    return this.#add("maintained", use);
  }

  /** Anything else that counts as a change, e.g. of its description in another catalog. */
  tableChanged(use: TableUse): Promise<void> {
    return this.#add("changed", use);
  }

  /** Uses that are not stored yet. */
  get pending(): number {
    return this.#pending;
  }

  /** Resolves when there is room for another use, or the publisher is closed. */
  async ready(): Promise<void> {
    while (this.#pending >= this.#limits.pending && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#waitingForRoom.add(resolve);
      });
    }
  }

  /**
   * Sends what waits for company and resolves once everything that is not stored yet is.
   *
   * @throws {ActivityNotStoredError} the first of that which could not be; its own calls have been told as well.
   */
  async flush(): Promise<void> {
    this.#dispatchAll();
    const outcomes = await Promise.allSettled(this.#unsettled);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
  }

  /** As `flush`, and refuses every further call. The connection stays open. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await this.flush();
  }

  #add(kind: UseKind, use: TableUse): Promise<void> {
    const refused = this.#refusal();
    if (refused) return Promise.reject(refused);
    let checked: CheckedUse;
    try {
      checked = checkUse(use, new Date());
    } catch (error) {
      return Promise.reject(error);
    }
    const batch = this.#batchOf(kind);
    batch.add(checked);
    this.#pending += 1;
    if (batch.uses >= this.#limits.events || batch.bytes >= this.#limits.bytes) {
      this.#dispatch(kind);
    }
    return batch.stored;
  }

  #batchOf(kind: UseKind): Batch {
    const open = this.#open.get(kind);
    if (open) return open;
    const batch = new Batch(kind, performance.now() + this.#giveUpAfterMs);
    this.#open.set(kind, batch);
    this.#unsettled.add(batch.stored);
    // The timer keeps the process alive: what waits for company is not to be lost at its end.
    this.#timer ??= setTimeout(() => this.#dispatchAll(), this.#limits.delayMs);
    return batch;
  }

  #dispatchAll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const kind of KINDS) this.#dispatch(kind);
  }

  #dispatch(kind: UseKind): void {
    const batch = this.#open.get(kind);
    if (!batch) return;
    this.#open.delete(kind);
    this.#queue.push(batch);
    this.#pump();
  }

  #pump(): void {
    while (this.#inFlight < IN_FLIGHT) {
      const batch = this.#queue.shift();
      if (!batch) return;
      this.#inFlight += 1;
      void this.#send(batch);
    }
  }

  async #send(batch: Batch): Promise<void> {
    try {
      await sendBatch(this.#destination, batch);
      batch.settle();
    } catch (error) {
      // Told to its callers, and to nobody in here: one that does not listen is told by the runtime.
      batch.settle(error);
    }
    this.#unsettled.delete(batch.stored);
    this.#inFlight -= 1;
    this.#pending -= batch.uses;
    if (this.#pending < this.#limits.pending) this.#wake();
    this.#pump();
  }

  #wake(): void {
    for (const resolve of this.#waitingForRoom) resolve();
    this.#waitingForRoom.clear();
  }

  #refusal(): ActivityNotStoredError | null {
    if (this.#closed) {
      return new ActivityNotStoredError("The publisher is closed.", { reason: "closed" });
    }
    if (this.#pending < this.#limits.pending) return null;
    return new ActivityNotStoredError(
      `${this.#pending} uses of tables wait to be stored already: await ready() before the next.`,
      { reason: "buffer_full" },
    );
  }
}

function inBounds(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new LapseInputError(`${name} takes a whole number from ${least} to ${most}, not ${value}.`);
}
