import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { OutboxService } from "@lapse/proto/common";
import { invalid, notFound, precondition } from "./errors.ts";
import { eventHeaders, eventsBetween, outboxStreams, unsentState } from "./outbox-store.ts";
import type { Pool } from "./postgres.ts";
import type { Handlers } from "./rpc/types.ts";
import { requireService } from "./services-only.ts";

const BATCH = 500;

/**
 * OutboxService over this service's outbox, for services that missed an event; it answers nobody else, as
 * the events are of all tenants. `source` is `lapse.<service>`, as the relay's.
 */
export function outboxHandlers({
  pool,
  source,
}: {
  readonly pool: Pool;
  readonly source: string;
}): Handlers<typeof OutboxService> {
  const service = source.replace(/^lapse\./, "");
  return {
    async getOutboxHead(_request, context) {
      await requireService(pool, service, context);
      const streams = await outboxStreams(pool);
      const { count, oldest } = await unsentState(pool);
      return {
        heads: streams.map(({ stream, lastSequence, firstKeptSequence }) => ({
          stream,
          lastSequence,
          firstKeptSequence,
        })),
        unsent: count,
        ...(oldest && { oldestUnsentAt: timestampFromDate(oldest) }),
      };
    },

    async *replayOutbox({ stream, fromSequence, toSequence }, context) {
      await requireService(pool, service, context);
      if (fromSequence < 1n || toSequence < fromSequence) {
        throw invalid("RANGE_INVALID", "ask from a sequence of at least 1 to one not below it");
      }
      let from = fromSequence;
      while (from <= toSequence && !context.signal.aborted) {
        const events = await eventsBetween(pool, { stream, from, to: toSequence, limit: BATCH });
        if (events[0]?.sequence !== from) return explainEnd(pool, stream, from);
        for (const event of events) {
          if (event.sequence !== from) break;
          const headers = eventHeaders(event, source);
          yield { subject: event.subject, headers, body: event.body };
          from += 1n;
        }
      }
    },
  };
}

/** There is no event numbered `from`: returns when none was given out yet, throws when it has been deleted. */
async function explainEnd(pool: Pool, stream: string, from: bigint): Promise<void> {
  const known = (await outboxStreams(pool)).find((each) => each.stream === stream);
  if (!known) throw notFound("OUTBOX_STREAM_UNKNOWN", `nothing was ever published to ${stream}`);
  if (from >= known.firstKeptSequence) return;
  throw precondition(
    "OUTBOX_NOT_KEPT",
    `events of ${stream} below ${known.firstKeptSequence} have been deleted after their keeping time: ask from there on`,
    { details: { first_kept_sequence: String(known.firstKeptSequence) } },
  );
}
