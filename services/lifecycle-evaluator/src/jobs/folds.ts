import {
  type Delivery,
  holdLease,
  type Lease,
  type Logger,
  type Metrics,
  type Nats,
  type OutboxClient,
  type Pool,
  type Stoppable,
  startGapHealer,
  startOrderedFold,
  startPeriodic,
} from "@lapse/kit";
import type { Fence } from "../app/fence.ts";
import { FOLD_LEASE } from "../app/fold-lease.ts";
import { missingEvents } from "../app/missing-events.ts";
import { recordLoss } from "../app/record-loss.ts";
import { FOLDED_STREAMS } from "../domain/fence.ts";
import { activityFold } from "../events/activity-fold.ts";
import { applyBatch } from "../events/apply-batch.ts";
import { applyReplayed } from "../events/apply-replayed.ts";
import { catalogFold } from "../events/catalog-fold.ts";
import { policyFold } from "../events/policy-fold.ts";
import { readAhead } from "../events/read-ahead.ts";
import type { StreamFold } from "../events/stream-fold.ts";
import type { EvaluatorMetrics } from "../metrics.ts";
import { SERVICE } from "../service-name.ts";
import { loadPosition, loadPositions } from "../store/fold-positions.ts";

/** What the folds run with. */
export interface FoldsDeps {
  readonly pool: Pool;
  readonly nats: Nats;
  readonly fence: Fence;
  /** The publishers whose events must not be missed, by `ce-source`. */
  readonly outboxes: Readonly<Record<string, OutboxClient>>;
  /** Of this process alone. */
  readonly holder: string;
  readonly timing: FoldTiming;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly counters: EvaluatorMetrics;
}

/** How often things are looked at, in ms. */
export interface FoldTiming {
  readonly leaseTtlMs: number;
  readonly healEveryMs: number;
  /** How long an event may be on its way before it is asked for again. */
  readonly missingForMs: number;
}

/** Messages that are pulled at once; a batch is what came while the one before it was stored. */
const BATCH = 2_000;
const GAUGES_EVERY_MS = 5_000;

/** Folds the three streams and heals their gaps whenever this process holds the lease. */
export function startFolds(deps: FoldsDeps): Stoppable {
  const { pool, holder, timing, log } = deps;
  return holdLease({
    pool,
    name: FOLD_LEASE,
    holder,
    ttlMs: timing.leaseTtlMs,
    onAcquired: (lease) => foldWhileHeld(deps, lease),
    log,
  });
}

async function foldWhileHeld(deps: FoldsDeps, { token, signal }: Lease): Promise<void> {
  const { pool, nats, fence, outboxes, timing, log, metrics, counters } = deps;
  const activity = activityFold({ fence, metrics: counters, signal });
  const catalog = catalogFold({ metrics: counters });
  const parts = [
    startStreamFold(deps, token, activity),
    startStreamFold(deps, token, catalog),
    startStreamFold(deps, token, policyFold),
    startGapHealer({
      pool,
      nats,
      sources: outboxes,
      streams: ["CATALOG", "POLICY"],
      onReplay: async (deliveries) => {
        const of = (stream: string) => deliveries.filter((each) => each.stream === stream);
        await applyReplayed({ pool, token, log }, catalog, of("CATALOG"));
        await applyReplayed({ pool, token, log }, policyFold, of("POLICY"));
      },
      passed: async (stream, sequence) => (await loadPosition(pool, stream)).sequence >= sequence,
      // What the catalog knows and the evaluator does not keeps a table: the versions differ.
      onLost: async (_tx, { stream }) => counters.signalLost.inc({ stream }),
      everyMs: timing.healEveryMs,
      missingForMs: timing.missingForMs,
      log,
      metrics,
    }),
    startPeriodic({
      name: "fold gauges",
      everyMs: GAUGES_EVERY_MS,
      work: () => setGauges(deps),
      log,
    }),
  ];
  await aborted(signal);
  await Promise.all(parts.map((part) => part.stop()));
}

function startStreamFold<M>(
  { pool, nats, log, metrics, counters }: FoldsDeps,
  token: bigint,
  fold: StreamFold<M>,
): Stoppable {
  const { stream } = fold;
  const ahead = readAhead(fold);
  return startOrderedFold({
    nats,
    stream,
    consumerName: `${SERVICE}-${stream.toLowerCase()}`,
    batch: BATCH,
    position: () => loadPosition(pool, stream),
    onPulled: ahead.onPulled,
    async handle(deliveries: readonly Delivery[], batch) {
      await applyBatch({ pool, token }, ahead.fold, deliveries, batch);
      counters.folded.inc({ stream }, deliveries.length);
    },
    onLoss: (loss) => recordLoss({ pool, token, metrics: counters }, loss),
    log,
    metrics,
  });
}

async function setGauges({ pool, fence, counters }: FoldsDeps): Promise<void> {
  const missing = await missingEvents(pool);
  for (const stream of FOLDED_STREAMS) {
    counters.signalMissing.set({ stream }, Number(missing.get(stream) ?? 0n));
  }
  const [heads, positions] = await Promise.all([fence.heads(), loadPositions(pool)]);
  for (const { stream, sequence } of heads) {
    const folded = positions.get(stream)?.sequence ?? 0n;
    counters.foldLag.set({ stream }, Number(sequence - folded));
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
}
