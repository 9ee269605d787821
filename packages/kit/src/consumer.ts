import { consumerMetrics } from "./consumer-metrics.ts";
import type { Handle } from "./consumer-verdict.ts";
import { watchConsumer } from "./consumer-watch.ts";
import { ConsumerWorker } from "./consumer-worker.ts";
import { ensureDurable, findConsumer } from "./durable-consumer.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Nats } from "./nats.ts";
import type { PulledMessage } from "./pulled-message.ts";
import { type Stoppable, stoppable } from "./stoppable.ts";
import { STREAMS, type StreamName } from "./streams.ts";
import { commonFilter } from "./subjects.ts";

export interface ConsumerOptions {
  readonly nats: Nats;
  readonly stream: StreamName;
  /** `<service>-<purpose>`; all replicas share it. */
  readonly durable: string;
  /** The whole stream unless given. */
  readonly filterSubjects?: readonly string[];
  /** Messages per call of `handle` at most; 100 unless given. */
  readonly batch?: number;
  /** Batches handled side by side; 1 unless given. */
  readonly concurrency?: number;
  /** After this long without a sign of life the broker gives a message to somebody else; 30 s unless given. */
  readonly ackWaitMs?: number;
  /** How long a message that failed for no known reason is left alone at first; it doubles. 1 s unless given. */
  readonly firstDelayMs?: number;
  /**
   * Must be idempotent: a message may come again, late and out of order. Returning acknowledges the batch,
   * but for what the result names, which is parked. A thrown `unavailable`, `conflict`, `exhausted` or
   * `unauthenticated` is tried again until it works; `invalid` parks the message at once, anything else after
   * five deliveries.
   */
  readonly handle: Handle;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface Consumer extends Stoppable {
  /** Whether every message up to that stream sequence has been dealt with. */
  passed(streamSequence: bigint): Promise<boolean>;
}

const ACK_WAIT_MS = 30_000;
const LEAST_ACK_PENDING = 1_000;

/**
 * Consumes a stream with a durable pull consumer until stopped: explicit acknowledgement, at least once,
 * bounded in flight. It sets itself up again when its consumer or stream is gone or the broker falls silent.
 */
export function startConsumer(options: ConsumerOptions): Consumer {
  const { nats, stream, durable, handle, log, batch = 100, concurrency = 1 } = options;
  const ackWaitMs = options.ackWaitMs ?? ACK_WAIT_MS;
  const [first = STREAMS[stream].subjects[0], ...others] = options.filterSubjects ?? [];
  const filters: [string, ...string[]] = [first, ...others];
  const durableOptions = {
    stream,
    durable,
    filter: commonFilter(filters),
    ackWaitMs,
    maxAckPending: Math.max(LEAST_ACK_PENDING, 4 * batch * concurrency),
  };
  const metrics = consumerMetrics(options.metrics, durable);

  const inHand = new Set<PulledMessage>();
  const heartbeat = setInterval(() => {
    for (const message of inHand) message.working();
  }, ackWaitMs / 3);

  const watch = watchConsumer({
    nats,
    durable: durableOptions,
    metrics,
    log,
    idleMs: () => Math.max(0, ...workers.map((worker) => worker.idleMs)),
  });
  const workers = Array.from(
    { length: concurrency },
    () =>
      new ConsumerWorker({
        nats,
        stream,
        consumer: durable,
        batch,
        filters,
        handle,
        firstDelayMs: options.firstDelayMs,
        metrics,
        log,
        take: (message) => inHand.add(message),
        release: (message) => inHand.delete(message),
        ensure: async () => {
          const { streamCreated } = await ensureDurable(nats, durableOptions, watch.progress());
          if (watch.standing(streamCreated) === "other") {
            for (const message of inHand) message.forget();
          }
        },
      }),
  );

  const { stop } = stoppable(async () => {
    for (const worker of workers) worker.stop();
    await Promise.all(workers.map(({ done }) => done));
    clearInterval(heartbeat);
    await watch.stop();
  });

  return {
    stop,
    async passed(streamSequence) {
      const info = await findConsumer(nats, stream, durable);
      if (!info) return false;
      const nothingLeft = info.num_pending === 0 && info.num_ack_pending === 0;
      return nothingLeft || BigInt(info.ack_floor.stream_seq) >= streamSequence;
    },
  };
}
