import type { MsgHdrs } from "nats";
import { encodeHeaderValue } from "./ce-header-value.ts";
import { type Headers, lowerCaseNames } from "./delivery-headers.ts";
import { withStream } from "./ensure-streams.ts";
import { LapseError } from "./errors.ts";
import type { Nats } from "./nats.ts";
import type { PulledMessage } from "./pulled-message.ts";
import { parkedSubject } from "./subjects.ts";

/** Headers of a parked message, beside those it had. */
export const PARK = {
  /** Why: a stable slug, and after a colon a sentence where there is one. */
  reason: "lapse-park-reason",
  consumer: "lapse-park-consumer",
  /** Where it was published. */
  subject: "lapse-park-subject",
  stream: "lapse-park-stream",
  streamSequence: "lapse-park-stream-sequence",
  /** When the broker stored it there. */
  storedAt: "lapse-park-stored-at",
  deliveries: "lapse-park-deliveries",
  messageId: "lapse-park-message-id",
  /** Present, with the value `omitted`, when the body had no room: it is in the stream it came from. */
  body: "lapse-park-body",
} as const;

/** What of a message is put aside, where the rest of it has been dealt with. */
export interface ParkedPart {
  readonly body: Uint8Array;
  readonly contentType: string;
}

const PREFIX = "lapse-park-";
const LONGEST_REASON = 500;

/**
 * Puts a message aside in the stream PARKED, body and headers as they came (or the given part of it in their
 * place), so that its neighbours go on.
 * Acknowledge it only afterwards; parking it twice within two minutes keeps one copy.
 */
export async function park(
  nats: Nats,
  {
    message,
    consumer,
    reason,
    part,
  }: {
    readonly message: PulledMessage;
    readonly consumer: string;
    readonly reason: string;
    readonly part?: ParkedPart | undefined;
  },
): Promise<void> {
  const own = headersOf(message);
  const headers: Record<string, string> = {
    ...transferable(own),
    ...(part && { "content-type": part.contentType, "ce-datacontenttype": part.contentType }),
    [PARK.reason]: encodeHeaderValue(reason.slice(0, LONGEST_REASON)),
    [PARK.consumer]: consumer,
    [PARK.subject]: message.subject,
    [PARK.stream]: message.stream,
    [PARK.streamSequence]: String(message.streamSequence),
    [PARK.storedAt]: message.storedAt.toISOString(),
    [PARK.deliveries]: String(message.deliveryCount),
  };
  const messageId = own["nats-msg-id"];
  if (messageId !== undefined) headers[PARK.messageId] = messageId;
  // The time tells it from a message with the same number in a stream of the same name that was made again.
  const msgId = `park:${consumer}:${message.stream}:${message.streamSequence}:${message.storedAt.getTime()}`;
  const put = (body: Uint8Array, hdrs: Record<string, string>) =>
    withStream(nats, "PARKED", () =>
      nats.publish(parkedSubject(message.stream), body, hdrs, { msgId }),
    );
  try {
    await put(part?.body ?? message.raw.data, headers);
  } catch (error) {
    if (!(error instanceof LapseError) || error.reason !== "EVENT_TOO_LARGE") throw error;
    await put(new Uint8Array(), { ...headers, [PARK.body]: "omitted" });
  }
}

/** The headers that a message may carry to another stream: not those to the broker, nor about parking. */
export function transferable(headers: Headers): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => !name.startsWith("nats-") && !name.startsWith(PREFIX),
  );
  return Object.fromEntries(kept);
}

/** None where they cannot be parsed, which may be why the message is parked. */
function headersOf({ raw }: PulledMessage): Headers {
  let headers: MsgHdrs | undefined;
  try {
    headers = raw.headers;
  } catch {
    headers = undefined;
  }
  return lowerCaseNames(headers ?? []);
}
