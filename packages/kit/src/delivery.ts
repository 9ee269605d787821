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
export const toDelivery = (arrival: Arrival): Delivery => new DecodedDelivery(arrival);

/** A class for speed: thousands a second are made. */
class DecodedDelivery implements Delivery {
  readonly stream: string;
  readonly subject: string;
  readonly streamSequence: bigint;
  readonly deliveryCount: number;
  readonly storedAt: Date;
  readonly headers: Headers;
  readonly event: EventAttributes;
  readonly body: Uint8Array;

  constructor(arrival: Arrival) {
    this.stream = arrival.stream;
    this.subject = arrival.subject;
    this.streamSequence = arrival.streamSequence;
    this.deliveryCount = arrival.deliveryCount;
    this.storedAt = arrival.storedAt;
    this.headers = arrival.headers;
    const { event, body } = decodeMessage(arrival);
    this.event = event;
    this.body = body;
  }

  decode<Desc extends DescMessage>(schema: Desc): MessageShape<Desc> {
    return decodeBody(schema, this.body, this.event.contentType);
  }
}
