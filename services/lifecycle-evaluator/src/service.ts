import { hostname } from "node:os";
import { join } from "node:path";
import {
  connectNats,
  createAuthenticator,
  createGrpcClient,
  createGrpcServer,
  createPool,
  ensureStreams,
  migrate,
  newId,
  type OutboxClient,
  outboxHandlers,
  readiness,
  type ServiceContext,
  startOperationsServer,
  startOutboxRelay,
} from "@lapse/kit";
import { OutboxService } from "@lapse/proto/common";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { evaluatorHandlers } from "./api/handlers.ts";
import { adoptDayLength } from "./app/adopt-day-length.ts";
import type { EvaluatorDeps } from "./app/deps.ts";
import { createFence } from "./app/fence.ts";
import type { EvaluatorSettings } from "./config.ts";
import { startCleanUp } from "./jobs/clean-up.ts";
import { startFolds } from "./jobs/folds.ts";
import { startScheduler } from "./jobs/scheduler.ts";
import { evaluatorMetrics } from "./metrics.ts";
import { SERVICE } from "./service-name.ts";
import { DEFAULT_TIMING, type Timing } from "./timing.ts";

/** What a process gives the service to run with. */
export interface ServiceDeps extends Omit<ServiceContext<EvaluatorSettings>, "settings"> {
  readonly timing?: Partial<Timing>;
}

/** Where the service answers, once it does. */
export interface Ports {
  readonly grpc: number;
  readonly operations: number;
}

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");

/** Starts the service; each part registers how it ends, and they end in reverse. */
export async function startEvaluator(
  settings: EvaluatorSettings,
  { log, metrics, signal, onStop, fail, ...given }: ServiceDeps,
): Promise<Ports> {
  const { service, database, tables, run, time } = settings;
  const timing: Timing = { ...DEFAULT_TIMING, ...given.timing };
  const source = `lapse.${SERVICE}`;
  const holder = `${hostname()}:${process.pid}:${newId()}`;
  const common = { log, metrics };

  const pool = createPool({
    url: database.url,
    size: database.poolSize,
    applicationName: SERVICE,
    log,
  });
  onStop("database pool", () => pool.end());
  const nats = await connectNats({
    url: settings.nats.url,
    replicas: settings.nats.replicas,
    name: SERVICE,
    ...common,
  });
  onStop("NATS", () => nats.close());

  let serving = false;
  const operations = await startOperationsServer({
    host: service.host,
    port: service.operationsPort,
    metrics,
    ready: readiness({
      database: () => pool.query("select 1"),
      nats: async () => {
        if (!nats.connected) throw new Error("not connected");
      },
      grpc: async () => {
        if (!serving) throw new Error("not serving yet");
      },
    }),
  });
  onStop("operations server", () => operations.stop());

  await migrate({ pool, directory: MIGRATIONS, log });
  const moved = await adoptDayLength(pool, time.daySeconds);
  if (moved > 0) {
    log.warn(
      { day_seconds: time.daySeconds, tables: moved },
      "a retention day has another length than before: when tables expire has changed",
    );
  }
  ensureStreams(nats, { log, signal }).catch(fail);
  const relay = startOutboxRelay({
    pool,
    nats,
    source,
    keepDays: settings.outbox.keepDays,
    ...common,
  });
  onStop("outbox relay", () => relay.stop());

  const counters = evaluatorMetrics(metrics);
  const fence = createFence({ pool, nats, metrics: counters });
  const deps: EvaluatorDeps = {
    pool,
    fence,
    rules: {
      intervalSeconds: run.sweepInterval,
      cap: tables.maxExpiriesPerSweep,
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
  const cleanUp = startCleanUp(
    { pool, log },
    { readDays: settings.tableReads.keepDays, daySeconds: time.daySeconds },
  );
  onStop("clean-up", () => cleanUp.stop());

  const server = createGrpcServer({
    services: [
      [LifecycleEvaluatorService, evaluatorHandlers(deps)],
      [OutboxService, outboxHandlers({ pool, source })],
    ],
    authenticate: createAuthenticator(settings.auth),
    ...common,
  });
  onStop("gRPC server", () => server.stop());
  const grpc = await server.listen(service.host, service.grpcPort);
  server.setServing(true);
  serving = true;
  return { grpc, operations: operations.port };
}

/** The publishers that are asked for what a stream has lost, by the source of their events. */
function connectOutboxes(
  { auth, peers }: EvaluatorSettings,
  { log, onStop }: Pick<ServiceDeps, "log" | "onStop">,
): Readonly<Record<string, OutboxClient>> {
  const credentials = { serviceToken: auth.serviceToken, log };
  const catalog = createGrpcClient(OutboxService, { url: peers.catalogUrl, ...credentials });
  onStop("catalog client", async () => catalog.close());
  const policy = createGrpcClient(OutboxService, {
    url: peers.retentionPolicyUrl,
    ...credentials,
  });
  onStop("retention-policy client", async () => policy.close());
  return { "lapse.catalog": catalog, "lapse.retention-policy": policy };
}
