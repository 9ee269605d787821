import { join } from "node:path";
import {
  createGrpcClient,
  type Ports,
  type ServiceContext,
  startDatabaseService,
} from "@lapse/kit";
import { type ObjectStore, openObjectStore } from "@lapse/object-store";
import { AccessService, CatalogService } from "@lapse/proto/catalog";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { RetentionPolicyService } from "@lapse/proto/policy";
import { accessHandlers } from "./api/access-handlers.ts";
import { catalogHandlers } from "./api/catalog-handlers.ts";
import type { CatalogDeps } from "./app/deps.ts";
import { verifyApiKey } from "./app/verify-api-key.ts";
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

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");

/** Starts the service; each part registers how it ends, and they end in reverse. */
export async function startCatalog(
  settings: CatalogSettings,
  { log, metrics, signal, onStop, fail, ...given }: ServiceDeps,
): Promise<Ports> {
  const { time, tables } = settings;

  const { pool, nats, serve } = await startDatabaseService(
    // The keys are its own: it need not ask itself.
    { name: SERVICE, migrations: MIGRATIONS, apiKeys: verifyApiKey },
    { settings, log, metrics, signal, onStop, fail },
  );

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

  return serve([CatalogService, catalogHandlers(deps)], [AccessService, accessHandlers(deps)]);
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
