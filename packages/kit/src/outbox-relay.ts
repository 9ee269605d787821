import { type BackoffRange, backoffMs } from "./backoff.ts";
import { startCleanup } from "./cleanup.ts";
import { ensureStream } from "./ensure-streams.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Nats } from "./nats.ts";
import { isStreamMissing } from "./nats-error.ts";
import { onNotify } from "./notify.ts";
import { OUTBOX_CHANNEL } from "./outbox.ts";
import { publishRound } from "./outbox-publish.ts";
import { numberEvents, outboxStreams, stayAwake, unsentState } from "./outbox-store.ts";
import { startPeriodic } from "./periodic.ts";
import type { Pool } from "./postgres.ts";
import { type Stoppable, stoppable } from "./stoppable.ts";
import { STREAM_NAMES, type StreamName } from "./streams.ts";
import { withTransaction } from "./transaction.ts";
import { Wakeup } from "./wakeup.ts";

export interface OutboxRelayOptions {
  readonly pool: Pool;
  readonly nats: Nats;
  /** `lapse.<service>`: the `ce-source` of every event. */
  readonly source: string;
  /** How long published events are kept for replay; 7 days unless given. */
  readonly keepDays?: number;
  /** How often to look without being notified; 1 s unless given. */
  readonly pollMs?: number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const KEEP_DAYS = 7;
const POLL_MS = 1_000;
/** The first wait after work; it doubles up to the poll. Until then nobody notifies. */
const AWAKE_MS = 20;
const GAUGES_EVERY_MS = 10_000;
const NUMBERED_AT_ONCE = 2_000;
/**
 * How long numbering, and then each stream, has the relay to itself. Within its turn it looks only at what lies
 * after where it is, or it would read all it has done again while an old snapshot keeps that; in its next turn
 * it sees what was left behind.
 */
const TURN_MS = 1_000;
const RETRY: BackoffRange = { firstMs: 250, mostMs: 10_000 };

/**
 * Sends what is in the outbox, for ever; every replica runs one. It numbers committed events per stream
 * without a gap and publishes them in that order; while NATS is away it only numbers, so that a replay has
 * them. NOTIFY wakes it, and it looks by itself each second.
 */
export function startOutboxRelay(options: OutboxRelayOptions): Stoppable {
  const relay = new OutboxRelay(options);
  return stoppable(() => relay.stop());
}

interface Pass {
  /** Something was numbered or sent. */
  readonly worked: boolean;
  /** There may be more to do at once. */
  readonly more: boolean;
}

class OutboxRelay {
  readonly #options: OutboxRelayOptions;
  readonly #wakeup = new Wakeup();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #helpers: readonly Stoppable[];
  readonly #published: { inc(labels: { stream: string }, count: number): void };
  /** Streams that the broker did not take, until when and how often in a row. */
  readonly #failing = new Map<StreamName, { readonly until: number; readonly times: number }>();

  constructor(options: OutboxRelayOptions) {
    const { pool, log, metrics, keepDays = KEEP_DAYS } = options;
    this.#options = options;
    this.#published = metrics.counter(
      "lapse_outbox_published_total",
      "Events of the outbox that the broker acknowledged",
      ["stream"],
    );
    this.#helpers = [
      onNotify(pool, OUTBOX_CHANNEL, () => this.#wakeup.wake(), { log }),
      startPeriodic({
        name: "outbox metrics",
        everyMs: GAUGES_EVERY_MS,
        work: () => this.#setGauges(),
        log,
      }),
      startCleanup({ pool, outboxKeepDays: keepDays, log }),
    ];
    this.#running = this.#run();
  }

  /** Ends after the round that is being published. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wakeup.wake();
    await this.#running;
    await Promise.all(this.#helpers.map((helper) => helper.stop()));
  }

  async #run(): Promise<void> {
    const { pool, log, pollMs = POLL_MS } = this.#options;
    const { signal } = this.#stop;
    let wait = 0;
    for (let failures = 0; !signal.aborted; ) {
      if (wait > 0) await this.#wakeup.sleep(wait);
      try {
        const { worked, more } = await this.#pass();
        if (worked) await stayAwake(pool);
        if (more) wait = 0;
        else wait = worked ? AWAKE_MS : Math.min(pollMs, Math.max(AWAKE_MS, 2 * wait));
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, "the outbox relay failed");
        wait = backoffMs(failures++, RETRY);
      }
    }
  }

  /** One turn of numbering and one for each stream. */
  async #pass(): Promise<Pass> {
    const { pool, nats } = this.#options;
    const isOver = this.#turn();
    let worked = false;
    let more = true;
    for (let after = 0n; more && !isOver(); ) {
      const limit = NUMBERED_AT_ONCE;
      const round = await withTransaction(pool, (tx) => numberEvents(tx, { after, limit }));
      worked ||= round.count > 0;
      more = round.count === limit;
      after = round.last;
    }
    for (const { stream } of await outboxStreams(pool)) {
      if (!isKnown(stream) || !nats.connected) continue;
      const sent = await this.#send(stream);
      worked ||= sent.worked;
      more ||= sent.more;
    }
    return { worked, more };
  }

  #turn(): () => boolean {
    const until = performance.now() + TURN_MS;
    return () => this.#stop.signal.aborted || performance.now() > until;
  }

  async #send(stream: StreamName): Promise<Pass> {
    const isOver = this.#turn();
    const failing = this.#failing.get(stream);
    let worked = false;
    if (failing && failing.until > performance.now()) return { worked, more: false };
    for (let after = 0n; !isOver(); ) {
      const { kind, count, last, error, refused } = await publishRound(
        this.#options,
        stream,
        after,
      );
      this.#published.inc({ stream }, count);
      worked ||= count > 0;
      for (const { event, error: err } of refused) {
        const about = { err, stream, id: event.id, subject: event.subject };
        this.#options.log.error(about, "the broker refuses an event of the outbox");
      }
      if (error) {
        this.#backOff(stream, count > 0 ? 0 : (failing?.times ?? 0), error);
        if (isStreamMissing(error)) await this.#makeStream(stream);
        return { worked, more: false };
      }
      if (kind !== "elsewhere") this.#failing.delete(stream);
      if (kind !== "more") return { worked, more: false };
      after = last;
    }
    return { worked, more: true };
  }

  /** Its failure is this stream's alone, and the others go on. */
  async #makeStream(stream: StreamName): Promise<void> {
    const { nats, log } = this.#options;
    await ensureStream(nats, stream).catch((error: unknown) =>
      log.warn({ err: error, stream }, "a stream could not be made"),
    );
  }

  #backOff(stream: StreamName, times: number, err: unknown): void {
    const wait = backoffMs(times, RETRY);
    this.#failing.set(stream, { until: performance.now() + wait, times: times + 1 });
    this.#options.log.warn({ err, stream, waitMs: Math.round(wait) }, "the broker takes no events");
  }

  async #setGauges(): Promise<void> {
    const { pool, metrics } = this.#options;
    const { count, oldest, now } = await unsentState(pool);
    metrics
      .gauge("lapse_outbox_unsent", "Events committed and not acknowledged by the broker")
      .set(Number(count));
    metrics
      .gauge("lapse_outbox_oldest_seconds", "Age of the oldest of them; 0 without any")
      .set(oldest ? (now.getTime() - oldest.getTime()) / 1_000 : 0);
  }
}

const isKnown = (stream: string): stream is StreamName =>
  STREAM_NAMES.some((name) => name === stream);
