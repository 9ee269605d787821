import { AckPolicy, DeliverPolicy, nanos } from "nats";
import type { Nats } from "./nats.ts";
import { JETSTREAM, jetstreamCode, toNatsFailure } from "./nats-error.ts";
import { type Pulled, pull } from "./pull.ts";
import type { PulledMessage } from "./pulled-message.ts";
import type { StreamName } from "./streams.ts";

/** The consumer on the server that follows a fold's position. */
export interface FoldConsumer {
  readonly nats: Nats;
  readonly stream: StreamName;
  readonly name: string;
  /** Messages that are asked for at once. */
  readonly batch: number;
}

const ACK_WAIT_MS = 60_000;
/** Bounds how long stopping takes. */
const PULL_WAIT_MS = 500;
/** Bounds what one pull holds in memory, whatever the size of a message. */
export const PULL_BYTES = 16 * 1_048_576;
/** A batch of the fold may grow to this many times what is asked for at once. */
export const MOST_PULLS = 8;

/** A consumer cannot be moved, so it is removed and made anew, delivering `from` and what follows. */
export async function placeConsumer(
  { nats, stream, name, batch }: FoldConsumer,
  from: bigint,
): Promise<void> {
  const { consumers } = nats.manager;
  try {
    await consumers.delete(stream, name).catch((error: unknown) => {
      if (jetstreamCode(error) !== JETSTREAM.consumerNotFound) throw error;
    });
    await consumers.add(stream, {
      durable_name: name,
      ack_policy: AckPolicy.All,
      ack_wait: nanos(ACK_WAIT_MS),
      max_deliver: -1,
      // One batch in hand, one coming together, each beyond its bound by a pull, and some air.
      max_ack_pending: (2 * MOST_PULLS + 4) * batch,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Number(from),
    });
  } catch (error) {
    throw toNatsFailure(error);
  }
}

/** What there is, up to a batch, or with `alone` the next message however large. */
export function pullBatch(
  { nats, stream, name, batch }: FoldConsumer,
  { alone = false }: { readonly alone?: boolean } = {},
): Promise<Pulled> {
  const request = { stream, consumer: name, batch, waitMs: PULL_WAIT_MS };
  return pull(
    nats.connection,
    alone ? { ...request, batch: 1 } : { ...request, maxBytes: PULL_BYTES },
  );
}

/** The messages from `expected` on without a gap. */
export function contiguous(
  messages: readonly PulledMessage[],
  expected: bigint,
): readonly PulledMessage[] {
  const gap = messages.findIndex(
    ({ streamSequence }, index) => streamSequence !== expected + BigInt(index),
  );
  return gap === -1 ? messages : messages.slice(0, gap);
}
