import {
  connectNats,
  createMetrics,
  ensureStreams,
  type FoldPosition,
  type Nats,
  newId,
  type Pool,
  startOrderedFold,
} from "@lapse/kit";
import { testNats, waitFor } from "@lapse/test-kit";
import { createFence } from "../../services/lifecycle-evaluator/src/app/fence.ts";
import { startFolds } from "../../services/lifecycle-evaluator/src/jobs/folds.ts";
import { evaluatorMetrics } from "../../services/lifecycle-evaluator/src/metrics.ts";
import { loadPosition } from "../../services/lifecycle-evaluator/src/store/fold-positions.ts";
import { publishReads } from "./support/activity-events.ts";
import type { Bench } from "./support/bench.ts";
import { evaluatorDatabase, loadTables } from "./support/evaluator-database.ts";
import { log } from "./support/log.ts";
import { inTurns, rate } from "./support/measure.ts";
import type { Figure } from "./support/report.ts";

const TABLES = 100_000;
const RUNS = 5;
const PATIENCE = { timeoutMs: 300_000, everyMs: 5 };
/** What waits in the stream when a run begins; how often each table is in it on average. */
const SHAPES = [
  { perMessage: 100, events: 2_000_000, bar: { least: 0.5 } },
  { perMessage: 100, events: 500_000, bar: null },
  { perMessage: 1, events: 200_000, bar: { least: 0.5 } },
] as const;

/** T34: from the stream into the database, against the same client merely consuming and acknowledging. */
export const activityFold: Bench = {
  name: "activity fold",
  parameters: `${TABLES.toLocaleString("en")} tables, reads of them at random, all waiting in the stream; median of ${RUNS} runs`,
  async run() {
    const database = await evaluatorDatabase();
    const broker = await testNats();
    const nats = await connectNats({
      url: broker.url,
      name: "bench",
      log,
      metrics: createMetrics("bench"),
    });
    try {
      await ensureStreams(nats);
      await loadTables(database.pool, { tables: TABLES, environments: 20, days: 60 });
      const { rows } = await database.pool.query<{ id: string }>(
        `select table_id as id from table_state order by random()`,
      );
      const tableIds = rows.map(({ id }) => id);
      const merely = new MerelyConsuming(nats);
      const figures: Figure[] = [];
      for (const { perMessage, events, bar } of SHAPES) {
        let last = 0n;
        const rates = await inTurns(RUNS, {
          published: () =>
            rate(events, async () => {
              last = await publishReads(nats, { tableIds, events, perMessage });
            }),
          consumed: async () => (events * 1_000) / (await merely.consume(last)),
          folded: async () => (events * 1_000) / (await fold(database.pool, nats, last)),
        });
        figures.push({
          what: `${events.toLocaleString("en")} events, ${perMessage} a message, folded`,
          value: rates.folded,
          unit: "events/s",
          baseline: { what: "merely consumed", value: rates.consumed },
          ratio: rates.folded / rates.consumed,
          bar,
        });
      }
      return figures;
    } finally {
      await nats.close();
      await broker.close();
      await database.close();
    }
  },
};

/** The consumer of the fold, its batches and acknowledgements, with nothing done in between. */
class MerelyConsuming {
  readonly #nats: Nats;
  #position: FoldPosition = { sequence: 0n, streamCreatedAt: null };

  constructor(nats: Nats) {
    this.#nats = nats;
  }

  /** How long it takes, in ms, until the message with that number is handled. */
  async consume(last: bigint): Promise<number> {
    const started = performance.now();
    const consuming = startOrderedFold({
      nats: this.#nats,
      stream: "ACTIVITY",
      consumerName: "bench-consume",
      batch: 2_000,
      position: async () => this.#position,
      handle: async (_deliveries, { lastSequence, streamCreatedAt }) => {
        this.#position = { sequence: lastSequence, streamCreatedAt };
      },
      onLoss: async ({ kind }) => {
        throw new Error(`messages are lost: ${kind}`);
      },
      log,
      metrics: createMetrics("bench"),
    });
    await waitFor(() => this.#position.sequence >= last, PATIENCE);
    const ms = performance.now() - started;
    await consuming.stop();
    return ms;
  }
}

/** The same with the service's own folds, of all streams and under their lease, until it is folded. */
async function fold(pool: Pool, nats: Nats, last: bigint): Promise<number> {
  const started = performance.now();
  const metrics = createMetrics("bench");
  const counters = evaluatorMetrics(metrics);
  const folds = startFolds({
    pool,
    nats,
    fence: createFence({ pool, nats, metrics: counters }),
    outboxes: {},
    holder: newId(),
    timing: { leaseTtlMs: 15_000, healEveryMs: 60_000, missingForMs: 60_000 },
    log,
    metrics,
    counters,
  });
  await waitFor(async () => (await loadPosition(pool, "ACTIVITY")).sequence >= last, PATIENCE);
  const ms = performance.now() - started;
  await folds.stop();
  return ms;
}
