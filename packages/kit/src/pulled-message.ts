import { type Msg, nanos } from "nats";
import type { Arrival } from "./delivery.ts";
import { lowerCaseNames } from "./delivery-headers.ts";

/** A message that JetStream delivered and that is ours until it is acknowledged or its wait runs out. */
export interface PulledMessage {
  readonly stream: string;
  readonly subject: string;
  readonly streamSequence: bigint;
  readonly deliveryCount: number;
  readonly storedAt: Date;
  /** For `toDelivery`; throws when the headers cannot be parsed. */
  arrival(): Arrival;
  /** Body and headers as they came. */
  readonly raw: Msg;
  /** Each of these is sent and not waited for; only the first of `ack` and `nak` counts. */
  ack(): void;
  /** Deliver it again, at once or after a while. */
  nak(delayMs?: number): void;
  /** Still at it: the wait starts anew. */
  working(): void;
  /** Answer no more: its stream is gone, and its number in a new one is another message's. */
  forget(): void;
}

/**
 * The reply subject says where a message stands:
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<ns>.<pending>`, and since 2.11, or
 * over a domain, `$JS.ACK.<domain>.<account>.<stream>.…`. Undefined: JetStream did not send this.
 */
export function pulledMessage(raw: Msg): PulledMessage | undefined {
  const tokens = raw.reply?.split(".") ?? [];
  const [stream, , deliveries, streamSequence, , stored] = tokens.slice(tokens.length > 9 ? 4 : 2);
  if (!stream || !deliveries || !streamSequence || !stored) return undefined;
  let settled = false;
  const settle = (answer: string) => {
    if (settled) return;
    settled = true;
    respond(raw, answer);
  };
  const base = {
    stream,
    subject: raw.subject,
    streamSequence: BigInt(streamSequence),
    deliveryCount: Number(deliveries),
    storedAt: new Date(Number(BigInt(stored) / 1_000_000n)),
  };
  return {
    ...base,
    raw,
    arrival: () => ({
      ...base,
      headers: lowerCaseNames(raw.headers ?? []),
      body: raw.data,
    }),
    ack: () => settle("+ACK"),
    nak: (delayMs) =>
      settle(delayMs ? `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}` : "-NAK"),
    working: () => {
      if (!settled) respond(raw, "+WPI");
    },
    forget: () => {
      settled = true;
    },
  };
}

/** On a connection that has been closed the answer is lost, as it would be on its way: it comes again. */
function respond(raw: Msg, answer: string): void {
  try {
    raw.respond(answer);
  } catch {
    // The client throws only when its connection is closed.
  }
}
