import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type CheckedUse, encodeUse, type UseKind } from "./table-use.ts";

/** `ActivityBatch.events`. */
const EVENTS_FIELD = 15;
/** Tag and length of one event in a batch, at most. */
const FRAME_BYTES = 6;

/** Uses of one kind, packed into one message. */
export class Batch {
  readonly kind: UseKind;
  /** When it is given up, by the process's monotonic clock in ms. */
  readonly giveUpAt: number;
  /** Settles for all its uses together, once the message is stored or given up. */
  readonly stored: Promise<void>;
  readonly #events: Uint8Array[] = [];
  /** Where in the batch a use that repeats others stands. */
  readonly #places = new Map<string, { readonly at: number; occurredAt: number }>();
  #bytes = 0;
  #uses = 0;
  #settle: { resolve(): void; reject(error: unknown): void } | undefined;

  constructor(kind: UseKind, giveUpAt: number) {
    this.kind = kind;
    this.giveUpAt = giveUpAt;
    this.stored = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  /** Uses taken, those included that another one says already. */
  get uses(): number {
    return this.#uses;
  }

  /** Size of the message's body, at most. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes a use. Of several changes of a table by the same actor the latest says it all: Lapse keeps when the last
   * one was. Reads are counted for each day, so every one is sent.
   */
  add(use: CheckedUse): void {
    this.#uses += 1;
    if (this.kind === "read") return void this.#append(use);
    const known = this.#places.get(use.key);
    const occurredAt = use.occurredAt.getTime();
    if (known === undefined) {
      this.#places.set(use.key, { at: this.#append(use), occurredAt });
    } else if (occurredAt > known.occurredAt) {
      known.occurredAt = occurredAt;
      this.#put(known.at, use);
    }
  }

  /** The body: `lapse.events.v1.ActivityBatch`. */
  encode(): Uint8Array {
    const writer = new BinaryWriter();
    for (const event of this.#events) {
      writer.tag(EVENTS_FIELD, WireType.LengthDelimited).bytes(event);
    }
    return writer.finish();
  }

  settle(error?: unknown): void {
    if (error) this.#settle?.reject(error);
    else this.#settle?.resolve();
  }

  #append(use: CheckedUse): number {
    this.#put(this.#events.length, use);
    return this.#events.length - 1;
  }

  #put(at: number, use: CheckedUse): void {
    const event = encodeUse(use);
    const before = this.#events[at];
    this.#bytes += event.length - (before?.length ?? -FRAME_BYTES);
    this.#events[at] = event;
  }
}
