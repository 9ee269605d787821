import { join } from "node:path";
import {
  connectNats,
  createAuthenticator,
  createGrpcClient,
  createGrpcServer,
  createPool,
  ensureStreams,
  migrate,
  outboxHandlers,
  readiness,
  type ServiceContext,
  startOperationsServer,
  startOutboxRelay,
} from "@lapse/kit";
import { type ObjectStore, openObjectStore } from "@lapse/object-store";
import { CatalogService } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { RetentionPolicyService } from "@lapse/proto/policy";
import { catalogHandlers } from "./api/catalog-handlers.ts";
import type { CatalogDeps } from "./app/deps.ts";
import { type CatalogSettings, objectStoreSettings } from "./config.ts";
import { consumeTableDue } from "./events/consume-table-due.ts";
import { type JobIntervals, startJobs } from "./jobs/start-jobs.ts";
import { createCatalogMetrics } from "./metrics.ts";
import { evaluatorOver } from "./peers/evaluator.ts";
import { retentionPolicyOver } from "./peers/retention-policy.ts";
import { SERVICE } from "./service-name.ts";

/** What a process gives the service to run with. */
export interface ServiceDeps extends Omit<ServiceContext<CatalogSettings>, "settings"> {
  /** The one the settings name, unless given. */
  readonly objectStore?: ObjectStore;
  readonly jobIntervals?: Partial<JobIntervals>;
}

/** Where the service answers, once it does. */
export interface Ports {
  readonly grpc: number;
  readonly operations: number;
}

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");

/** Starts the service; each part registers how it ends, and they end in reverse. */
export async function startCatalog(
  settings: CatalogSettings,
  { log, metrics, signal, onStop, fail, ...given }: ServiceDeps,
): Promise<Ports> {
  const { service, database, time, tables } = settings;
  const source = `lapse.${SERVICE}`;
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
  ensureStreams(nats, { log, signal }).catch(fail);
  const relay = startOutboxRelay({
    pool,
    nats,
    source,
    keepDays: settings.outbox.keepDays,
    ...common,
  });
  onStop("outbox relay", () => relay.stop());

  const objectStore = given.objectStore ?? (await openObjectStore(objectStoreSettings(settings)));
  onStop("object store", () => objectStore.close());
  const deps: CatalogDeps = {
    pool,
    objectStore,
    ...connectPeers(settings, { log, onStop }),
    undo: { undoDays: tables.undoDays, dayMs: time.daySeconds * 1_000 },
    holdTtlMs: tables.holdTtl,
    log,
    metrics: createCatalogMetrics(metrics),
  };

  const consumer = consumeTableDue(deps, { nats, metrics });
  onStop("due consumer", () => consumer.stop());
  const jobs = startJobs(deps, given.jobIntervals);
  onStop("jobs", () => jobs.stop());

  const server = createGrpcServer({
    services: [
      [CatalogService, catalogHandlers(deps)],
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

function connectPeers(
  { auth, peers }: CatalogSettings,
  { log, onStop }: Pick<ServiceDeps, "log" | "onStop">,
): Pick<CatalogDeps, "evaluator" | "retentionPolicy"> {
  const credentials = { serviceToken: auth.serviceToken, log };
  const evaluator = createGrpcClient(LifecycleEvaluatorService, {
    url: peers.lifecycleEvaluatorUrl,
    ...credentials,
  });
  onStop("evaluator client", async () => evaluator.close());
  const policy = createGrpcClient(RetentionPolicyService, {
    url: peers.retentionPolicyUrl,
    ...credentials,
  });
  onStop("retention-policy client", async () => policy.close());
  return { evaluator: evaluatorOver(evaluator), retentionPolicy: retentionPolicyOver(policy) };
}
