import type { StoredMsg } from "nats";
import { decodeHeaderValue } from "./ce-header-value.ts";
import { type Headers, lowerCaseNames } from "./delivery-headers.ts";
import { notFound, precondition } from "./errors.ts";
import type { Logger } from "./log.ts";
import type { Nats } from "./nats.ts";
import { JETSTREAM, jetstreamCode, toNatsFailure } from "./nats-error.ts";
import { PARK, transferable } from "./park.ts";
import { parkedSubject } from "./subjects.ts";

/** A message that a consumer put aside, as an operator sees it. */
export interface ParkedMessage {
  /** Place in the stream PARKED; what `retryParked` and `discardParked` take. */
  readonly sequence: bigint;
  readonly parkedAt: Date;
  readonly reason: string;
  readonly consumer: string;
  readonly stream: string;
  readonly subject: string;
  readonly streamSequence: bigint;
  readonly deliveries: number;
  /** Those it had when it was published. */
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export interface ParkedPage {
  readonly items: readonly ParkedMessage[];
  /** For the next page as `after`; undefined: this was the last. */
  readonly next: bigint | undefined;
}

/** The oldest first, of all streams or of one; 50 unless `limit` says otherwise. */
export async function listParked(
  nats: Nats,
  {
    stream,
    after = 0n,
    limit = 50,
  }: { readonly stream?: string; readonly after?: bigint; readonly limit?: number } = {},
): Promise<ParkedPage> {
  const subject = stream === undefined ? "parked.>" : parkedSubject(stream);
  const items: ParkedMessage[] = [];
  for (let from = after + 1n; items.length <= limit; ) {
    const stored = await storedMessage(nats, "PARKED", {
      seq: Number(from),
      next_by_subj: subject,
    });
    if (!stored) return { items, next: undefined };
    items.push(parkedMessage(stored));
    from = BigInt(stored.seq) + 1n;
  }
  const shown = items.slice(0, limit);
  return { items: shown, next: shown.at(-1)?.sequence };
}

/**
 * Publishes a parked message again where it was first published and removes it from PARKED. All consumers
 * of that subject get it once more; it has a new message id, so that the broker does not take it for a
 * duplicate, and the old event id, so that they can.
 *
 * @throws not_found `PARKED_NOT_FOUND`; precondition `PARKED_BODY_GONE`.
 */
export async function retryParked(nats: Nats, sequence: bigint): Promise<ParkedMessage> {
  const { message, raw } = await get(nats, sequence);
  const body = raw[PARK.body] === "omitted" ? await originalBody(nats, message) : message.body;
  // The same for both when two operators retry at once; another when it has been parked again since.
  const msgId = `retry:${sequence}:${message.parkedAt.getTime()}`;
  await nats.publish(message.subject, body, message.headers, { msgId });
  await remove(nats, sequence);
  return message;
}

/** Removes a parked message for good; who did it, why and what it was goes to the log. */
export async function discardParked(
  nats: Nats,
  sequence: bigint,
  { actor, reason, log }: { readonly actor: string; readonly reason: string; readonly log: Logger },
): Promise<ParkedMessage> {
  const { message } = await get(nats, sequence);
  await remove(nats, sequence);
  const { body, headers, ...about } = message;
  log.warn(
    { actor, reason, parked: { ...about, sequence: String(sequence) }, headers, size: body.length },
    "a parked message was discarded",
  );
  return message;
}

async function get(nats: Nats, sequence: bigint) {
  const stored = await storedMessage(nats, "PARKED", { seq: Number(sequence) });
  if (!stored) {
    throw notFound("PARKED_NOT_FOUND", `nothing is parked under ${sequence}: list what is`);
  }
  return { message: parkedMessage(stored), raw: lowerCaseNames(stored.header) };
}

async function originalBody(nats: Nats, { stream, streamSequence }: ParkedMessage) {
  const original = await storedMessage(nats, stream, { seq: Number(streamSequence) });
  if (original) return original.data;
  throw precondition(
    "PARKED_BODY_GONE",
    `the body was too large to park, and ${stream} does not keep it any more: discard it`,
  );
}

async function storedMessage(
  nats: Nats,
  stream: string,
  query: { seq: number; next_by_subj?: string },
): Promise<StoredMsg | undefined> {
  try {
    return await nats.manager.streams.getMessage(stream, query);
  } catch (error) {
    if (jetstreamCode(error) === JETSTREAM.messageNotFound) return undefined;
    throw toNatsFailure(error);
  }
}

async function remove(nats: Nats, sequence: bigint): Promise<void> {
  try {
    await nats.manager.streams.deleteMessage("PARKED", Number(sequence));
  } catch (error) {
    // Somebody else removed it meanwhile.
    if (await storedMessage(nats, "PARKED", { seq: Number(sequence) })) throw toNatsFailure(error);
  }
}

function parkedMessage(stored: StoredMsg): ParkedMessage {
  const raw = lowerCaseNames(stored.header);
  return {
    sequence: BigInt(stored.seq),
    parkedAt: stored.time,
    reason: decodeHeaderValue(raw[PARK.reason] ?? ""),
    consumer: raw[PARK.consumer] ?? "",
    stream: raw[PARK.stream] ?? "",
    subject: raw[PARK.subject] ?? "",
    streamSequence: BigInt(raw[PARK.streamSequence] ?? 0),
    deliveries: Number(raw[PARK.deliveries] ?? 0),
    headers: transferable(raw),
    body: stored.data,
  };
}
