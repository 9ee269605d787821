import type { GetOutboxHeadResponse, OutboxHead, ReplayOutboxResponse } from "@lapse/proto/common";
import type { Delivery } from "./delivery.ts";
import { findStream } from "./ensure-streams.ts";
import { giveUpRange, type MissingRange, missingRanges, noteHead } from "./inbox.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Nats } from "./nats.ts";
import { startPeriodic } from "./periodic.ts";
import type { Pool, Queryable } from "./postgres.ts";
import { replayDeliveries } from "./replay.ts";
import { type Stoppable, stoppable } from "./stoppable.ts";
import type { StreamName } from "./streams.ts";
import { withTransaction } from "./transaction.ts";

/** The part of a gRPC client of OutboxService that is needed to heal. */
export interface OutboxClient {
  getOutboxHead(
    request: Record<string, never>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<GetOutboxHeadResponse>;
  replayOutbox(
    request: {
      readonly stream: string;
      readonly fromSequence: bigint;
      readonly toSequence: bigint;
    },
    options?: { readonly signal?: AbortSignal },
  ): AsyncIterable<ReplayOutboxResponse>;
}

export interface GapHealerOptions {
  readonly pool: Pool;
  readonly nats: Nats;
  /** By `ce-source`, e.g. `lapse.catalog`. */
  readonly sources: Readonly<Record<string, OutboxClient>>;
  readonly streams: readonly StreamName[];
  /** The handler of deliveries, which notes what it has taken in with `trackSequences`. */
  onReplay(deliveries: readonly Delivery[]): Promise<unknown>;
  /**
   * Whether everything in the stream up to that place has been handled. With it, what is merely unread is
   * not taken for lost; without, it is fetched a second time.
   */
  passed?(stream: StreamName, streamSequence: bigint): Promise<boolean>;
  /**
   * Records in `tx` that the publisher keeps these no more; afterwards they count as taken in. Without it
   * they stay missing for ever.
   */
  onLost?(tx: Queryable, range: MissingRange): Promise<void>;
  /** 10 s unless given. */
  readonly everyMs?: number;
  /** For how long an event may be on its way; 5 s unless given. */
  readonly missingForMs?: number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const EVERY_MS = 10_000;
const MISSING_FOR_MS = 5_000;

/**
 * Finds events that never came, also the last ones of a publisher that has fallen silent, and fetches them
 * from its outbox: losing a stream loses no event. Each publisher is asked on its own, so that one that is slow
 * keeps no other waiting.
 */
export function startGapHealer(options: GapHealerOptions): Stoppable {
  const healer = new GapHealer(options);
  const { sources, everyMs = EVERY_MS, log } = options;
  const parts = Object.entries(sources).map(([source, client]) =>
    startPeriodic({
      name: `gap healer of ${source}`,
      everyMs,
      work: (signal) => healer.heal(source, client, signal),
      log,
    }),
  );
  return stoppable(async () => {
    await Promise.all(parts.map((part) => part.stop()));
  });
}

/** At some time, every number up to `to` had been given out, and the stream ended at `streamLast`. */
interface Mark {
  readonly to: bigint;
  readonly at: number;
  readonly streamLast: bigint;
  readonly streamCreated: string | undefined;
}

class GapHealer {
  readonly #options: GapHealerOptions;
  readonly #marks = new Map<string, Mark>();
  readonly #missing: { set(labels: { source: string }, value: number): void };
  readonly #healed: { inc(labels: { source: string }, value: number): void };
  readonly #lost: { inc(labels: { source: string }, value: number): void };

  constructor(options: GapHealerOptions) {
    this.#options = options;
    const { metrics } = options;
    const labels = ["source"] as const;
    this.#missing = metrics.gauge("lapse_inbox_missing", "Events that have not come", labels);
    this.#healed = metrics.counter("lapse_inbox_healed_total", "Events fetched anew", labels);
    this.#lost = metrics.counter("lapse_inbox_lost_total", "Events gone for good", labels);
  }

  /** One look at what one publisher has said and what of it has not come. */
  async heal(source: string, client: OutboxClient, signal: AbortSignal): Promise<void> {
    const { pool, streams } = this.#options;
    const { heads } = await client.getOutboxHead({}, { signal });
    for (const stream of streams) {
      const head = heads.find((each) => each.stream === stream);
      if (!head) continue;
      await noteHead(pool, { source, stream, sequence: head.lastSequence });
      const to = await this.#overdueUpTo(source, stream, head);
      for (const range of await this.#holes(source, stream, to)) {
        await this.#fetch(range, head, client, signal);
      }
    }
    const holes = (await missingRanges(pool)).filter((hole) => hole.source === source);
    this.#missing.set({ source }, Number(holes.reduce((sum, hole) => sum + size(hole), 0n)));
  }

  /**
   * Up to which number events must have come: those given out at the last mark, once that is old enough and
   * what was in the stream then has been handled. A mark stays until then, or it would never get old.
   */
  async #overdueUpTo(source: string, stream: StreamName, head: OutboxHead): Promise<bigint> {
    const { nats, passed, missingForMs = MISSING_FOR_MS } = this.#options;
    const info = passed && (await findStream(nats, stream));
    const key = `${source}/${stream}`;
    const now: Mark = {
      to: head.lastSequence,
      at: performance.now(),
      streamLast: BigInt(info?.state.last_seq ?? 0),
      streamCreated: info?.created,
    };
    const mark = this.#marks.get(key);
    if (!mark || mark.streamCreated !== now.streamCreated) {
      this.#marks.set(key, now);
      return 0n;
    }
    if (now.at - mark.at < missingForMs) return 0n;
    if (passed && !(await passed(stream, mark.streamLast))) return 0n;
    this.#marks.set(key, now);
    return mark.to;
  }

  async #holes(source: string, stream: StreamName, to: bigint): Promise<MissingRange[]> {
    if (to === 0n) return [];
    const all = await missingRanges(this.#options.pool);
    return all
      .filter((hole) => hole.source === source && hole.stream === stream && hole.from <= to)
      .map((hole) => ({ ...hole, to: hole.to < to ? hole.to : to }));
  }

  async #fetch(
    range: MissingRange,
    { firstKeptSequence }: OutboxHead,
    client: OutboxClient,
    signal: AbortSignal,
  ): Promise<void> {
    const { log } = this.#options;
    const { source, stream, from, to } = range;
    if (from < firstKeptSequence) {
      const last = firstKeptSequence - 1n;
      await this.#giveUp({ ...range, to: to < last ? to : last });
    }
    const fromSequence = from < firstKeptSequence ? firstKeptSequence : from;
    if (fromSequence > to) return;
    const about = { source, stream, from: String(fromSequence), to: String(to) };
    log.warn(about, "events did not come: fetching them from their publisher");
    const replay = client.replayOutbox({ stream, fromSequence, toSequence: to }, { signal });
    const count = await replayDeliveries(replay, { stream, handle: this.#options.onReplay, log });
    this.#healed.inc({ source }, count);
  }

  async #giveUp(range: MissingRange): Promise<void> {
    const { pool, onLost, log } = this.#options;
    const { source, stream, from, to } = range;
    log.error(
      { source, stream, from: String(from), to: String(to) },
      "events are gone for good: their publisher keeps them no more",
    );
    if (!onLost) return;
    await withTransaction(pool, async (tx) => {
      await onLost(tx, range);
      await giveUpRange(tx, range);
    });
    this.#lost.inc({ source }, Number(size(range)));
  }
}

const size = ({ from, to }: MissingRange): bigint => to - from + 1n;
