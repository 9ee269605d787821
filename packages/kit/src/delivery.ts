import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { decodeMessage, type EventAttributes } from "./cloud-events.ts";
import type { Headers } from "./delivery-headers.ts";
import { decodeBody } from "./event-body.ts";

/** One message as a consumer's handler gets it, from the broker or replayed from an outbox. */
export interface Delivery {
  /** JetStream stream, e.g. `DECISION`. */
  readonly stream: string;
  readonly subject: string;
  /** Place in the stream; 0 for a replayed one. */
  readonly streamSequence: bigint;
  /** 1 at the first delivery. */
  readonly deliveryCount: number;
  /** When the broker stored it; for a replayed one, the time of the event. */
  readonly storedAt: Date;
  /** Lower-case names. */
  readonly headers: Headers;
  readonly event: EventAttributes;
  /** The data of the event, taken out of its envelope where it came in one. */
  readonly body: Uint8Array;
  /**
   * The body as a message, from protobuf or JSON.
   *
   * @throws invalid `EVENT_UNREADABLE`
   */
  decode<Desc extends DescMessage>(schema: Desc): MessageShape<Desc>;
}

/** Where and how a message came. */
export type Arrival = Pick<
  Delivery,
  "stream" | "subject" | "streamSequence" | "deliveryCount" | "storedAt" | "headers" | "body"
>;

/** @throws invalid `EVENT_UNREADABLE` when the envelope cannot be read. */
export function toDelivery(arrival: Arrival): Delivery {
  const { event, body } = decodeMessage({
    ...arrival,
    fallbackId: `${arrival.stream}:${arrival.streamSequence}`,
  });
  return {
    ...arrival,
    event,
    body,
    decode: (schema) => decodeBody(schema, body, event.contentType),
  };
}
