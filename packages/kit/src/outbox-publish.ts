import { type LapseError, toLapseError } from "./errors.ts";
import type { Nats } from "./nats.ts";
import {
  eventHeaders,
  lockForPublishing,
  markPublished,
  postpone,
  type StoredEvent,
  unsentEvents,
} from "./outbox-store.ts";
import type { Pool } from "./postgres.ts";
import type { StreamName } from "./streams.ts";
import { withTransaction } from "./transaction.ts";

/** What one round of publishing did. */
export interface Published {
  /**
   * - `elsewhere`: another relay is at this stream
   * - `done`: nothing more is due
   * - `more`: there may be more after `last`
   * - `failed`: the broker did not take it; nothing after it was sent
   */
  readonly kind: "elsewhere" | "done" | "more" | "failed";
  readonly count: number;
  /** The number of the last event dealt with. */
  readonly last: bigint;
  readonly error?: LapseError;
  /** Events the broker refuses for what they are; they are tried again in a minute. */
  readonly refused: readonly { readonly event: StoredEvent; readonly error: LapseError }[];
}

const ROUND = 500;
const IN_FLIGHT = 100;
/** A relay that hangs in mid-publish loses its connection, and with it the stream, to another. */
const HANGS_AFTER = "15s";

/**
 * Publishes the next events of a stream in order, up to 100 in flight, and marks what was acknowledged. One
 * relay at a time is at a stream, so its order holds over all replicas, but for events sent anew after a
 * failure. Whatever breaks in between leads to sending again with the same ids, never to a loss.
 */
export async function publishRound(
  { pool, nats, source }: { readonly pool: Pool; readonly nats: Nats; readonly source: string },
  stream: StreamName,
  after: bigint,
): Promise<Published> {
  return withTransaction(pool, async (tx) => {
    const none = { count: 0, last: after, refused: [] };
    if (!(await lockForPublishing(tx, stream))) return { kind: "elsewhere", ...none };
    await tx.query(`set local idle_in_transaction_session_timeout = '${HANGS_AFTER}'`);
    const events = await unsentEvents(tx, { stream, after, limit: ROUND });
    if (events.length === 0) return { kind: "done", ...none };
    const outcome = await publishInOrder(events, (event) =>
      nats.publish(event.subject, event.body, eventHeaders(event, source), {
        msgId: event.id,
        stream,
      }),
    );
    await markPublished(tx, stream, outcome.published);
    await postpone(
      tx,
      stream,
      outcome.refused.map(({ event }) => event.sequence),
    );
    const all = events.length < ROUND ? "done" : "more";
    return {
      kind: outcome.error ? "failed" : all,
      count: outcome.published.length,
      last: events.at(-1)?.sequence ?? after,
      refused: outcome.refused,
      ...(outcome.error && { error: outcome.error }),
    };
  });
}

interface Outcome {
  readonly published: bigint[];
  readonly refused: { event: StoredEvent; error: LapseError }[];
  /** The first failure that is not the event's own; no event was started after it. */
  error: LapseError | undefined;
}

async function publishInOrder(
  events: readonly StoredEvent[],
  send: (event: StoredEvent) => Promise<unknown>,
): Promise<Outcome> {
  const outcome: Outcome = { published: [], refused: [], error: undefined };
  const queue = events.values();
  // All lanes take from one queue, so events are started in order.
  const lane = async () => {
    for (const event of queue) {
      if (outcome.error) return;
      try {
        await send(event);
        outcome.published.push(event.sequence);
      } catch (thrown) {
        const error = toLapseError(thrown);
        if (error.kind === "invalid") outcome.refused.push({ event, error });
        else outcome.error ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return outcome;
}
