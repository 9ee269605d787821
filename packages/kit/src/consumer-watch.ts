import type { ConsumerInfo } from "nats";
import type { ConsumerMetrics } from "./consumer-metrics.ts";
import { type DurableOptions, findConsumer, type Progress } from "./durable-consumer.ts";
import type { Logger } from "./log.ts";
import type { Nats } from "./nats.ts";
import { startPeriodic } from "./periodic.ts";
import type { Stoppable } from "./stoppable.ts";

export interface ConsumerWatch extends Stoppable {
  /** The last that was seen of it, for making it anew where it was. */
  progress(): Progress | undefined;
  /** It stands, in the stream that was made at that time: the one it was in before, or another one. */
  standing(streamCreated: string): "same" | "other";
}

const EVERY_MS = 5_000;
const STALLED_AFTER_MS = 10_000;

/** Looks at a consumer every 5 s: its lag, how far it is, and whether the broker has stalled. */
export function watchConsumer(deps: {
  readonly nats: Nats;
  readonly durable: DurableOptions;
  readonly metrics: ConsumerMetrics;
  readonly log: Logger;
  /** How long a request for messages has been waiting in vain. */
  idleMs(): number;
  readonly everyMs?: number;
}): ConsumerWatch {
  const { nats, durable, metrics, log, everyMs = EVERY_MS } = deps;
  let streamCreated: string | undefined;
  let progress: Progress | undefined;
  let last: ConsumerInfo | undefined;

  async function look(): Promise<void> {
    const info = nats.connected
      ? await findConsumer(nats, durable.stream, durable.durable)
      : undefined;
    if (!info || streamCreated === undefined) return;
    metrics.lag(info.num_pending + info.num_ack_pending);
    progress = { streamCreated, ackFloor: info.ack_floor.stream_seq };
    if (info.num_ack_pending >= durable.maxAckPending) {
      log.warn({ consumer: durable.durable }, "a consumer has as much in flight as it may");
    }
    if (isStalled({ info, last, idleMs: deps.idleMs() })) {
      log.error({ consumer: durable.durable }, "the broker delivers nothing of what is pending");
      // Nobody has anything of it in hand; whoever waits on it is told, and makes it anew.
      await nats.manager.consumers.delete(durable.stream, durable.durable);
    }
    last = info;
  }

  const { stop } = startPeriodic({
    name: `watch ${durable.durable}`,
    everyMs,
    firstMs: everyMs,
    work: look,
    log,
  });
  return {
    progress: () => progress,
    standing: (created) => {
      const other = streamCreated !== undefined && streamCreated !== created;
      streamCreated = created;
      return other ? "other" : "same";
    },
    stop,
  };
}

/**
 * Messages are pending, somebody has asked for them for a while, nobody has one in hand, and nothing was
 * delivered since the last look: the broker has lost track (nats-server has had such faults).
 */
export function isStalled({
  info,
  last,
  idleMs,
}: {
  readonly info: ConsumerInfo;
  readonly last: ConsumerInfo | undefined;
  readonly idleMs: number;
}): boolean {
  return (
    idleMs > STALLED_AFTER_MS &&
    info.num_pending > 0 &&
    info.num_ack_pending === 0 &&
    last?.created === info.created &&
    last.num_pending > 0 &&
    last.delivered.consumer_seq === info.delivered.consumer_seq
  );
}
