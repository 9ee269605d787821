import { once } from "node:events";
import { PassThrough, type Readable } from "node:stream";
import { type LapseError, toLapseError } from "@lapse/kit";

/** One server-sent event. */
export interface ServerSentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

export interface EventStreamOptions {
  readonly events: AsyncIterable<ServerSentEvent>;
  /** Time between signs of life, in ms, so that a dead connection is noticed at both ends. */
  readonly heartbeatMs: number;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** What the reader is told when the events break off. */
  readonly onFailure: (error: LapseError) => unknown;
}

/** How long a browser waits before it connects again. */
const RECONNECT_MS = 2_000;

/**
 * The body of a `text/event-stream`. No event is taken while the reader has no room for it, and the source
 * is closed when the stream ends, whichever side ended it.
 */
export function eventStream(options: EventStreamOptions): Readable {
  const { heartbeatMs, signal } = options;
  const body = new PassThrough();
  body.write(`retry: ${RECONNECT_MS}\n\n`);
  const heartbeat = setInterval(() => {
    // A reader without room is alive, or soon found not to be by its connection.
    if (!body.writableNeedDrain) body.write(": heartbeat\n\n");
  }, heartbeatMs);
  const end = () => body.end();
  signal.addEventListener("abort", end, { once: true });
  pump(body, options)
    .catch((error: unknown) => body.destroy(error instanceof Error ? error : undefined))
    .finally(() => {
      clearInterval(heartbeat);
      signal.removeEventListener("abort", end);
    });
  return body;
}

async function pump(body: PassThrough, { events, signal, onFailure }: EventStreamOptions) {
  try {
    for await (const event of events) {
      if (signal.aborted) return;
      if (!body.write(encode(event))) await once(body, "drain", { signal });
    }
  } catch (thrown) {
    if (signal.aborted) return;
    body.write(`event: problem\ndata: ${JSON.stringify(onFailure(toLapseError(thrown)))}\n\n`);
  } finally {
    body.end();
  }
}

/** JSON has no line breaks of its own, so the data is always one line. */
const encode = ({ id, event, data }: ServerSentEvent): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
