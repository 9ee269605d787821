import { decodeHeaderValue, encodeHeaderValue } from "./ce-header-value.ts";
import type { Headers } from "./delivery-headers.ts";
import { invalid } from "./errors.ts";
import { isJsonBody, PROTOBUF, parseJsonBody } from "./event-body.ts";
import { readStructured, structuredEvent } from "./structured-event.ts";

/** What an event says about itself (CloudEvents 1.0). */
export interface EventAttributes {
  /** Unique for this occurrence; the same when it is sent again. */
  readonly id: string;
  readonly type: string;
  /** `lapse.<service>` for ours. */
  readonly source: string;
  readonly time: Date;
  /** What it is about, e.g. a table id. */
  readonly subject?: string | undefined;
  /** Place in the gap-free numbering per source and stream; only events from an outbox have one. */
  readonly sequence?: bigint | undefined;
  /** Of the body; "" when unknown. */
  readonly contentType: string;
  readonly traceparent?: string | undefined;
}

/**
 * Headers of an event in binary mode of the CloudEvents NATS binding, with lower-case names, plus
 * `content-type` and `traceparent` for readers that know no CloudEvents. `Nats-Msg-Id` is the publisher's.
 */
export function encodeHeaders(event: EventAttributes): Record<string, string> {
  const attributes: Record<string, string | undefined> = {
    specversion: "1.0",
    id: event.id,
    type: event.type,
    source: event.source,
    time: event.time.toISOString(),
    subject: event.subject,
    datacontenttype: event.contentType || PROTOBUF,
    sequence: event.sequence?.toString(),
  };
  const headers: Record<string, string> = { "content-type": event.contentType || PROTOBUF };
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) headers[`ce-${name}`] = encodeHeaderValue(value);
  }
  if (event.traceparent !== undefined) headers.traceparent = event.traceparent;
  return headers;
}

/** A message as it came. */
export interface ReceivedMessage {
  readonly stream: string;
  readonly streamSequence: bigint;
  readonly subject: string;
  /** Lower-case names. */
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly storedAt: Date;
}

/**
 * Reads an event in any mode: binary; structured by its content type; structured without one (a JSON
 * envelope as body); or no CloudEvent at all. What an outside publisher left out or wrote in a form of its
 * own is filled in: id from `Nats-Msg-Id` or its place, type from the subject, time from the broker.
 *
 * @throws invalid `EVENT_UNREADABLE`
 */
export function decodeMessage(message: ReceivedMessage): {
  readonly event: EventAttributes;
  readonly body: Uint8Array;
} {
  const { headers, body } = message;
  const contentType = headers["content-type"] ?? "";
  if (/^application\/cloudevents/i.test(contentType)) {
    if (!/^application\/cloudevents(\+json)?\s*(;|$)/i.test(contentType)) {
      throw invalid("EVENT_UNREADABLE", `events cannot be read as ${contentType}`);
    }
    return fromStructured(message, structuredEvent(parseJsonBody(body)));
  }
  if (headers["ce-specversion"] === undefined && isJsonBody(body, contentType)) {
    const json = parseJsonBody(body);
    const envelope = readStructured(json);
    if (envelope) return fromStructured(message, envelope);
  }
  return { event: fromHeaders(message), body };
}

function fromHeaders(message: ReceivedMessage): EventAttributes {
  const { headers } = message;
  return complete(message, {
    id: decoded(headers["ce-id"]),
    type: decoded(headers["ce-type"]),
    source: decoded(headers["ce-source"]),
    time: decoded(headers["ce-time"]),
    subject: decoded(headers["ce-subject"]),
    sequence: decoded(headers["ce-sequence"]),
    contentType: decoded(headers["ce-datacontenttype"]) ?? headers["content-type"],
    traceparent: headers.traceparent ?? decoded(headers["ce-traceparent"]),
  });
}

const decoded = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : decodeHeaderValue(value);

function fromStructured(
  message: ReceivedMessage,
  { attributes, body }: NonNullable<ReturnType<typeof readStructured>>,
) {
  const text = (name: string): string | undefined => {
    const value = attributes[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  };
  const event = complete(message, {
    id: text("id"),
    type: text("type"),
    source: text("source"),
    time: text("time"),
    subject: text("subject"),
    sequence: text("sequence"),
    contentType: body.contentType,
    traceparent: message.headers.traceparent ?? text("traceparent"),
  });
  return { event, body: body.bytes };
}

type Given = { readonly [name in keyof EventAttributes]: string | undefined };

function complete(message: ReceivedMessage, given: Given): EventAttributes {
  const { id, type, source, subject, sequence, contentType, traceparent } = given;
  const { headers, stream, streamSequence, storedAt } = message;
  const time = given.time === undefined ? storedAt : new Date(given.time);
  return {
    id: id || headers["nats-msg-id"] || `${stream}:${streamSequence}`,
    type: type || message.subject,
    source: source ?? "",
    time: Number.isNaN(time.getTime()) ? storedAt : time,
    subject,
    sequence: sequence !== undefined && NUMBER.test(sequence) ? BigInt(sequence) : undefined,
    contentType: contentType ?? "",
    traceparent,
  };
}

const NUMBER = /^\d{1,18}$/;
