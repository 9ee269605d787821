import { createInbox, type Msg, type NatsConnection, nanos, type Subscription } from "nats";
import { pause } from "./backoff.ts";
import { type PulledMessage, pulledMessage } from "./pulled-message.ts";

/** One request for messages of a durable consumer. */
export interface PullRequest {
  readonly stream: string;
  readonly consumer: string;
  readonly batch: number;
  /** Stop before the bodies and headers of the batch exceed this together. */
  readonly maxBytes?: number;
  /** How long to wait for the first message; at least 2 s. */
  readonly waitMs: number;
}

/**
 * How a pull ended.
 * - `answered`: the server said that this is all for now, or the batch is full
 * - `consumer_gone`: the server said that the consumer was deleted
 * - `too_large`: the next message alone exceeds `maxBytes`
 * - `silent`: the server said nothing any more, not even its heartbeat: the request is lost, or there is no
 *   such consumer (a server answers nothing then)
 * - `stopped`: the signal was aborted
 */
export type PullEnd = "answered" | "consumer_gone" | "too_large" | "silent" | "stopped";

export interface Pulled {
  readonly messages: readonly PulledMessage[];
  readonly end: PullEnd;
}

const HEARTBEAT_MS = 1_000;
const SILENCE_MS = 2_500;

/**
 * Asks once for up to `batch` messages: waits for the first, takes what there is, and comes back. Nothing is
 * outstanding afterwards, so no message idles in a buffer that nobody reads. Rejects only when the connection
 * is closed for good.
 */
export function pull(
  connection: NatsConnection,
  request: PullRequest,
  signal: AbortSignal,
): Promise<Pulled> {
  return new Promise((resolve) => {
    const messages: PulledMessage[] = [];
    if (signal.aborted) return resolve({ messages, end: "stopped" });
    const inbox = createInbox();
    const subscription = connection.subscribe(inbox, {
      callback: (error, message) => {
        silence.refresh();
        if (error) return finish("silent");
        if (message.subject === inbox) {
          const end = endOf(message);
          if (end) finish(end);
          return;
        }
        const pulled = pulledMessage(message);
        if (pulled) messages.push(pulled);
        if (messages.length === request.batch) finish("answered");
      },
    });
    const silence = setTimeout(() => finish("silent"), SILENCE_MS);
    const abort = () => finish("stopped");
    signal.addEventListener("abort", abort);
    // A connection that is closed for good takes its subscriptions along.
    subscription.closed.then(() => finish("silent")).catch(() => finish("silent"));

    let finishing = false;
    function finish(end: PullEnd): void {
      if (finishing) return;
      finishing = true;
      clearTimeout(silence);
      signal.removeEventListener("abort", abort);
      const settled = () => resolve({ messages, end });
      if (end === "stopped" || end === "silent") drained(subscription).then(settled, settled);
      else {
        subscription.unsubscribe();
        settled();
      }
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
  idle_heartbeat: nanos(HEARTBEAT_MS),
  // With `expires`: wait for the first message, but then not for the batch to fill.
  no_wait: true,
});

/** Undefined for a heartbeat: the request goes on. */
function endOf({ headers }: Msg): PullEnd | undefined {
  const code = headers?.code ?? 0;
  if (code < 200) return undefined;
  const text = headers?.description.toLowerCase() ?? "";
  if (code === 409 && text.includes("consumer deleted")) return "consumer_gone";
  if (code === 409 && text.includes("message size exceeds")) return "too_large";
  return code === 503 ? "silent" : "answered";
}

const DRAIN_MS = 1_000;

/** What the server had sent before it learns that nobody listens any more still comes, up to its answer. */
async function drained(subscription: Subscription): Promise<void> {
  if (subscription.isClosed()) return;
  const answered = new AbortController();
  // Without a connection there is no answer.
  await Promise.race([
    subscription.drain().catch(() => undefined),
    pause(DRAIN_MS, answered.signal),
  ]);
  answered.abort();
  if (!subscription.isClosed()) subscription.unsubscribe();
}
