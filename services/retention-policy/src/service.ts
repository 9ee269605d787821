import { join } from "node:path";
import {
  createGrpcClient,
  databaseClock,
  type Ports,
  type ServiceContext,
  startDatabaseService,
} from "@lapse/kit";
import { CatalogService } from "@lapse/proto/catalog";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { RetentionPolicyService } from "@lapse/proto/policy";
import { dayLength } from "@lapse/rules";
import { policyHandlers } from "./api/handlers.ts";
import type { PolicySettings } from "./config.ts";
import { startCatalogConsumer } from "./events/catalog-consumer.ts";
import { catalogPeer } from "./peers/catalog.ts";
import { evaluatorPeer } from "./peers/evaluator.ts";
import { SERVICE } from "./service-name.ts";

/** What a process gives the service to run with. */
export type ServiceDeps = Omit<ServiceContext<PolicySettings>, "settings">;

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");

/** Starts the service; each part registers how it ends, and they end in reverse. */
export async function startRetentionPolicy(
  settings: PolicySettings,
  { log, metrics, signal, onStop, fail }: ServiceDeps,
): Promise<Ports> {
  const { auth, peers } = settings;
  const common = { log, metrics };

  const { pool, nats, serve } = await startDatabaseService(
    { name: SERVICE, migrations: MIGRATIONS },
    { settings, log, metrics, signal, onStop, fail },
  );
  const consumer = startCatalogConsumer({ pool, nats, ...common });
  onStop("catalog consumer", () => consumer.stop());

  const peer = { serviceToken: auth.serviceToken, log };
  const catalog = createGrpcClient(CatalogService, { url: peers.catalogUrl, ...peer });
  onStop("catalog client", async () => catalog.close());
  const evaluator = createGrpcClient(LifecycleEvaluatorService, {
    url: peers.lifecycleEvaluatorUrl,
    ...peer,
  });
  onStop("evaluator client", async () => evaluator.close());

  const handlers = policyHandlers({
    pool,
    clock: databaseClock(pool),
    catalog: catalogPeer(catalog),
    evaluator: evaluatorPeer(evaluator),
    dayLength: dayLength(settings.time.daySeconds),
  });
  return serve([RetentionPolicyService, handlers]);
}
