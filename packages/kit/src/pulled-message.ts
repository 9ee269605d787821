import { type Msg, nanos } from "nats";
import type { Arrival } from "./delivery.ts";
import { lowerCaseNames } from "./delivery-headers.ts";

/**
 * A message of JetStream, undefined: it is something else. The reply subject says where it stands:
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<ns>.<pending>`, and since 2.11, or
 * over a domain, `$JS.ACK.<domain>.<account>.<stream>.…`.
 */
export function pulledMessage(raw: Msg): PulledMessage | undefined {
  const tokens = raw.reply?.split(".") ?? [];
  const first = tokens.length > 9 ? 4 : 2;
  const stream = tokens[first];
  const deliveries = tokens[first + 2];
  const streamSequence = tokens[first + 3];
  const stored = tokens[first + 5];
  if (!stream || !deliveries || !streamSequence || !stored) return undefined;
  return new PulledMessage(raw, stream, BigInt(streamSequence), Number(deliveries), stored);
}

/** A message that was delivered and that is ours until it is answered or its ack wait runs out. */
export class PulledMessage {
  /** Body and headers as they came; reading the headers may throw. */
  readonly raw: Msg;
  readonly stream: string;
  readonly streamSequence: bigint;
  readonly deliveryCount: number;
  readonly #storedNs: string;
  #settled = false;

  constructor(
    raw: Msg,
    stream: string,
    streamSequence: bigint,
    deliveryCount: number,
    storedNs: string,
  ) {
    this.raw = raw;
    this.stream = stream;
    this.streamSequence = streamSequence;
    this.deliveryCount = deliveryCount;
    this.#storedNs = storedNs;
  }

  get subject(): string {
    return this.raw.subject;
  }

  get storedAt(): Date {
    return new Date(Math.trunc(Number(this.#storedNs.slice(0, -3)) / 1_000));
  }

  /** For `toDelivery`; throws when the headers cannot be parsed. */
  arrival(): Arrival {
    return {
      stream: this.stream,
      subject: this.subject,
      streamSequence: this.streamSequence,
      deliveryCount: this.deliveryCount,
      storedAt: this.storedAt,
      headers: lowerCaseNames(this.raw.headers ?? []),
      body: this.raw.data,
    };
  }

  /** Done with it. Sent and not waited for; of this, `nak` and `forget` only the first counts. */
  ack(): void {
    this.#settle("+ACK");
  }

  /** To be delivered again, at once or after a while. */
  nak(delayMs?: number): void {
    this.#settle(delayMs ? `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}` : "-NAK");
  }

  /** Still at it: the ack wait starts anew. */
  working(): void {
    if (!this.#settled) this.#respond("+WPI");
  }

  /** Answer no more: its stream is gone, and its number in a new one is another message's. */
  forget(): void {
    this.#settled = true;
  }

  #settle(answer: string): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#respond(answer);
  }

  /** On a connection that has been closed the answer is lost, as it might be on its way: it comes again. */
  #respond(answer: string): void {
    try {
      this.raw.respond(answer);
    } catch {
      // The client throws only when its connection is closed.
    }
  }
}
