import { AckPolicy, type ConsumerConfig, type ConsumerInfo, DeliverPolicy, nanos } from "nats";
import { ensureStream } from "./ensure-streams.ts";
import type { Nats } from "./nats.ts";
import { JETSTREAM, jetstreamCode, toNatsFailure } from "./nats-error.ts";
import type { StreamName } from "./streams.ts";

/** A durable pull consumer that several processes share. */
export interface DurableOptions {
  readonly stream: StreamName;
  readonly durable: string;
  readonly filter: string;
  readonly ackWaitMs: number;
  /** Messages delivered and not yet acknowledged, over all processes. */
  readonly maxAckPending: number;
}

/** How far a consumer had come in which stream, so that one made anew goes on there. */
export interface Progress {
  readonly streamCreated: string;
  /** All messages up to this one are acknowledged. */
  readonly ackFloor: number;
}

/**
 * Makes the consumer if it is missing (and its stream, if that is), brings it up to date otherwise. One made
 * anew goes on after `progress` if that is of the same stream, else from the first message: delivering again
 * is harmless, passing over is not.
 */
export async function ensureDurable(
  nats: Nats,
  options: DurableOptions,
  progress?: Progress,
): Promise<{ readonly info: ConsumerInfo; readonly streamCreated: string }> {
  const { created: streamCreated } = await ensureStream(nats, options.stream);
  const found = await findConsumer(nats, options.stream, options.durable);
  if (found) return { info: await updated(nats, options, found), streamCreated };
  const same = progress !== undefined && progress.streamCreated === streamCreated;
  const start: Partial<ConsumerConfig> =
    same && progress.ackFloor > 0
      ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: progress.ackFloor + 1 }
      : { deliver_policy: DeliverPolicy.All };
  try {
    const info = await nats.manager.consumers.add(options.stream, {
      durable_name: options.durable,
      ack_policy: AckPolicy.Explicit,
      ...start,
      ...changeable(options),
    });
    return { info, streamCreated };
  } catch (error) {
    // Another process was faster.
    const other = await findConsumer(nats, options.stream, options.durable);
    if (other) return { info: other, streamCreated };
    throw toNatsFailure(error);
  }
}

/** Undefined: it is not there. */
export async function findConsumer(
  nats: Nats,
  stream: StreamName,
  name: string,
): Promise<ConsumerInfo | undefined> {
  try {
    return await nats.manager.consumers.info(stream, name);
  } catch (error) {
    if (jetstreamCode(error) === JETSTREAM.consumerNotFound) return undefined;
    throw toNatsFailure(error);
  }
}

const changeable = ({ filter, ackWaitMs, maxAckPending }: DurableOptions) => ({
  filter_subject: filter,
  // No `backoff`: its first value would replace this.
  ack_wait: nanos(ackWaitMs),
  max_ack_pending: maxAckPending,
  // The server would stop delivering without a word, and no lag would show it: we park instead.
  max_deliver: -1,
});

async function updated(
  nats: Nats,
  options: DurableOptions,
  found: ConsumerInfo,
): Promise<ConsumerInfo> {
  const wanted = changeable(options);
  const same = Object.entries(wanted).every(
    ([key, value]) => found.config[key as keyof ConsumerConfig] === value,
  );
  if (same) return found;
  try {
    return await nats.manager.consumers.update(options.stream, options.durable, wanted);
  } catch (error) {
    throw toNatsFailure(error);
  }
}
