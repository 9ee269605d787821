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
  /** Messages per batch at most. */
  readonly batch: number;
}

const ACK_WAIT_MS = 60_000;
/** Bounds how long stopping takes. */
const PULL_WAIT_MS = 500;
/** Bounds what two batches hold in memory, whatever the size of a message. */
const BATCH_BYTES = 16 * 1_048_576;

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
      // One batch in hand, one on its way.
      max_ack_pending: 4 * batch,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Number(from),
    });
  } catch (error) {
    throw toNatsFailure(error);
  }
}

/** A batch, or with `alone` the next message however large. A rejection not yet awaited ends no process. */
export function pullBatch(
  { nats, stream, name, batch }: FoldConsumer,
  { alone = false }: { readonly alone?: boolean } = {},
): Promise<Pulled> {
  const request = { stream, consumer: name, batch, waitMs: PULL_WAIT_MS };
  const pulling = pull(
    nats.connection,
    alone ? { ...request, batch: 1 } : { ...request, maxBytes: BATCH_BYTES },
  );
  pulling.catch(() => undefined);
  return pulling;
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
