import { createInbox, type Msg, type NatsConnection, nanos } from "nats";
import { type PulledMessage, pulledMessage } from "./pulled-message.ts";

/** One request for messages of a durable consumer. */
export interface PullRequest {
  readonly stream: string;
  readonly consumer: string;
  readonly batch: number;
  /** Stop before the bodies and headers of the batch exceed this together. */
  readonly maxBytes?: number;
  /** How long to wait for the first message. */
  readonly waitMs: number;
}

/**
 * How a pull ended.
 * - `answered`: the server said that this is all for now, or the batch is full
 * - `consumer_gone`: the server said that the consumer was deleted
 * - `too_large`: the next message alone exceeds `maxBytes`
 * - `silent`: the server said nothing in time: the request is lost, or there is no such consumer (a server
 *   answers nothing then)
 */
export type PullEnd = "answered" | "consumer_gone" | "too_large" | "silent";

export interface Pulled {
  readonly messages: readonly PulledMessage[];
  readonly end: PullEnd;
}

/** How late the server may be in saying that the time is up. */
const LATE_MS = 1_500;

/**
 * Asks once for up to `batch` messages: waits for the first, takes what there is, and comes back. It cannot be
 * cut short: a request cannot be taken back, and what the server sends to nobody would idle for the whole ack
 * wait. So nothing is outstanding afterwards. Rejects only when the connection is closed for good.
 */
export function pull(connection: NatsConnection, request: PullRequest): Promise<Pulled> {
  return new Promise((resolve) => {
    const messages: PulledMessage[] = [];
    const inbox = createInbox();
    const subscription = connection.subscribe(inbox, {
      callback: (error, message) => {
        silence.refresh();
        if (error) return finish("silent");
        if (message.subject === inbox) return finish(endOf(message));
        const pulled = pulledMessage(message);
        if (pulled) messages.push(pulled);
        if (messages.length === request.batch) finish("answered");
      },
    });
    const silence = setTimeout(() => finish("silent"), request.waitMs + LATE_MS);
    // A connection that is closed for good takes its subscriptions along.
    subscription.closed.then(() => finish("silent")).catch(() => finish("silent"));

    let finished = false;
    function finish(end: PullEnd): void {
      if (finished) return;
      finished = true;
      clearTimeout(silence);
      if (!subscription.isClosed()) subscription.unsubscribe();
      resolve({ messages, end });
    }

    try {
      connection.publish(nextSubject(request), JSON.stringify(nextBody(request)), { reply: inbox });
    } catch {
      finish("silent");
    }
  });
}

const nextSubject = ({ stream, consumer }: PullRequest): string =>
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;

const nextBody = ({ batch, maxBytes, waitMs }: PullRequest) => ({
  batch,
  ...(maxBytes !== undefined && { max_bytes: maxBytes }),
  expires: nanos(waitMs),
  // With `expires`: wait for the first message, but then not for the batch to fill.
  no_wait: true,
});

function endOf({ headers }: Msg): PullEnd {
  const code = headers?.code ?? 0;
  const text = headers?.description.toLowerCase() ?? "";
  if (code === 409 && text.includes("consumer deleted")) return "consumer_gone";
  if (code === 409 && text.includes("message size exceeds")) return "too_large";
  return code === 503 ? "silent" : "answered";
}
