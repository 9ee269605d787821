import { hostname } from "node:os";
import { join } from "node:path";
import {
  createGrpcClient,
  newId,
  type OutboxClient,
  type Ports,
  type ServiceContext,
  startDatabaseService,
} from "@lapse/kit";
import { AccessService, CatalogService } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { evaluatorHandlers } from "./api/handlers.ts";
import { adoptDayLength } from "./app/adopt-day-length.ts";
import type { EvaluatorDeps } from "./app/deps.ts";
import { createFence } from "./app/fence.ts";
import type { EvaluatorSettings } from "./config.ts";
import { startCleanUp } from "./jobs/clean-up.ts";
import { startFolds } from "./jobs/folds.ts";
import { startHoldGauges } from "./jobs/hold-gauges.ts";
import { startScheduler } from "./jobs/scheduler.ts";
import { evaluatorMetrics } from "./metrics.ts";
import { type Catalog, catalogPeer } from "./peers/catalog.ts";
import { SERVICE } from "./service-name.ts";
import { DEFAULT_TIMING, type Timing } from "./timing.ts";

/** What a process gives the service to run with. */
export interface ServiceDeps extends Omit<ServiceContext<EvaluatorSettings>, "settings"> {
  readonly timing?: Partial<Timing>;
}

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");

/** Starts the service; each part registers how it ends, and they end in reverse. */
export async function startEvaluator(
  settings: EvaluatorSettings,
  { log, metrics, signal, onStop, fail, ...given }: ServiceDeps,
): Promise<Ports> {
  const { tables, run, time } = settings;
  const timing: Timing = { ...DEFAULT_TIMING, ...given.timing };
  const holder = `${hostname()}:${process.pid}:${newId()}`;
  const common = { log, metrics };

  const { pool, nats, serve } = await startDatabaseService(
    { name: SERVICE, migrations: MIGRATIONS },
    { settings, log, metrics, signal, onStop, fail },
  );
  const moved = await adoptDayLength(pool, time.daySeconds);
  if (moved > 0) {
    log.warn(
      { day_seconds: time.daySeconds, tables: moved },
      "a retention day has another length than before: when tables expire has changed",
    );
  }

  const counters = evaluatorMetrics(metrics);
  const fence = createFence({ pool, nats, metrics: counters });
  const deps: EvaluatorDeps = {
    pool,
    fence,
    catalog: connectCatalog(settings, { log, onStop }),
    rules: {
      intervalSeconds: run.sweepInterval,
      cap: tables.maxExpiriesPerSweep,
      maxExpiryShare: tables.maxExpiryShare,
      warningDays: tables.expiryWarningDays,
      fenceTimeoutMs: timing.fenceTimeoutMs,
      answerTimeoutMs: timing.answerTimeoutMs,
    },
    log,
    metrics: counters,
  };
  const outboxes = connectOutboxes(settings, { log, onStop });
  const folds = startFolds({ pool, nats, fence, outboxes, holder, timing, counters, ...common });
  onStop("folds", () => folds.stop());
  const scheduler = startScheduler(deps, { holder, leaseTtlMs: timing.leaseTtlMs });
  onStop("scheduler", () => scheduler.stop());
  const holdGauges = startHoldGauges({ pool, log, counters });
  onStop("hold gauges", () => holdGauges.stop());
  const cleanUp = startCleanUp(
    { pool, log },
    { readDays: settings.tableReads.keepDays, daySeconds: time.daySeconds },
  );
  onStop("clean-up", () => cleanUp.stop());

  return serve([LifecycleEvaluatorService, evaluatorHandlers(deps)]);
}

/** The catalog, which is asked who may read what. */
function connectCatalog(
  { auth, peers }: EvaluatorSettings,
  { log, onStop }: Pick<ServiceDeps, "log" | "onStop">,
): Catalog {
  const settings = { url: peers.catalogUrl, serviceToken: auth.serviceToken, log };
  const tables = createGrpcClient(CatalogService, settings);
  onStop("catalog client", async () => tables.close());
  const access = createGrpcClient(AccessService, settings);
  onStop("access client", async () => access.close());
  return catalogPeer(tables, access);
}

/** The publishers that are asked for what a stream has lost, by the source of their events. */
function connectOutboxes(
  { auth, peers }: EvaluatorSettings,
  { log, onStop }: Pick<ServiceDeps, "log" | "onStop">,
): Readonly<Record<string, OutboxClient>> {
  const credentials = { serviceToken: auth.serviceToken, log };
  const catalog = createGrpcClient(OutboxService, { url: peers.catalogUrl, ...credentials });
  onStop("catalog outbox client", async () => catalog.close());
  const policy = createGrpcClient(OutboxService, {
    url: peers.retentionPolicyUrl,
    ...credentials,
  });
  onStop("retention-policy client", async () => policy.close());
  return { "lapse.catalog": catalog, "lapse.retention-policy": policy };
}
