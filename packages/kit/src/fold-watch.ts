import type { ConsumerInfo } from "nats";
import type { ConsumerMetrics } from "./consumer-metrics.ts";
import { isStalled } from "./consumer-watch.ts";
import { findConsumer } from "./durable-consumer.ts";
import type { FoldConsumer } from "./fold-consumer.ts";
import type { Logger } from "./log.ts";
import { startPeriodic } from "./periodic.ts";
import type { Stoppable } from "./stoppable.ts";

const EVERY_MS = 5_000;

/** Looks at a fold's consumer every 5 s: its lag, and whether the broker has stalled. */
export function watchFold({
  consumer: { nats, stream, name },
  metrics,
  log,
  idleMs,
  onStalled,
}: {
  readonly consumer: FoldConsumer;
  readonly metrics: ConsumerMetrics;
  readonly log: Logger;
  /** How long a request for messages has been waiting in vain. */
  idleMs(): number;
  onStalled(): void;
}): Stoppable {
  let last: ConsumerInfo | undefined;
  async function look(): Promise<void> {
    const info = nats.connected ? await findConsumer(nats, stream, name) : undefined;
    if (!info) return;
    metrics.lag(info.num_pending + info.num_ack_pending);
    if (isStalled({ info, last, idleMs: idleMs() })) {
      log.error({ consumer: name }, "the broker delivers nothing of what is pending");
      onStalled();
    }
    last = info;
  }
  return startPeriodic({ name: `watch ${name}`, everyMs: EVERY_MS, work: look, log });
}
