import { join } from "node:path";
import {
  connectNats,
  createAuthenticator,
  createGrpcClient,
  createGrpcServer,
  createPool,
  databaseClock,
  ensureStreams,
  migrate,
  outboxHandlers,
  readiness,
  type ServiceContext,
  startOperationsServer,
  startOutboxRelay,
} from "@lapse/kit";
import { CatalogService } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
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

/** Where the service answers, once it does. */
export interface Ports {
  readonly grpc: number;
  readonly operations: number;
}

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");

/** Starts the service; each part registers how it ends, and they end in reverse. */
export async function startRetentionPolicy(
  settings: PolicySettings,
  { log, metrics, signal, onStop, fail }: ServiceDeps,
): Promise<Ports> {
  const { service, database, auth, peers } = settings;
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
  const server = createGrpcServer({
    services: [
      [RetentionPolicyService, handlers],
      [OutboxService, outboxHandlers({ pool, source })],
    ],
    authenticate: createAuthenticator(auth),
    ...common,
  });
  onStop("gRPC server", () => server.stop());
  const grpc = await server.listen(service.host, service.grpcPort);
  server.setServing(true);
  serving = true;
  return { grpc, operations: operations.port };
}
