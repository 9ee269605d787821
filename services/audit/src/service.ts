import { join } from "node:path";
import {
  connectNats,
  createAuthenticator,
  createGrpcClient,
  createGrpcServer,
  createPool,
  ensureStreams,
  migrate,
  onNotify,
  outboxHandlers,
  readiness,
  type ServiceContext,
  startConsumer,
  startGapHealer,
  startOperationsServer,
  startOutboxRelay,
} from "@lapse/kit";
import { AuditService } from "@lapse/proto/audit";
import { OutboxService } from "@lapse/proto/common";
import { auditHandlers } from "./api/handlers.ts";
import { APPENDED_CHANNEL } from "./app/append-decisions.ts";
import { createAppendSignal } from "./app/append-signal.ts";
import { recordLoss } from "./app/record-loss.ts";
import type { AuditSettings } from "./config.ts";
import { decisionReceiver } from "./events/decision-receiver.ts";
import { startGauges } from "./jobs/gauges.ts";
import { SERVICE } from "./service-name.ts";

/** What a process gives the service to run with. */
export type ServiceDeps = Omit<ServiceContext<AuditSettings>, "settings">;

/** Where the service answers, once it does. */
export interface Ports {
  readonly grpc: number;
  readonly operations: number;
}

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");
const BATCH = 500;

/** Starts the service; each part registers how it ends, and they end in reverse. */
export async function startAudit(
  settings: AuditSettings,
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

  const receiver = decisionReceiver({ pool, metrics });
  const consumer = startConsumer({
    nats,
    stream: "DECISION",
    durable: "audit-decisions",
    batch: BATCH,
    handle: receiver.fromStream,
    ...common,
  });
  onStop("decision consumer", () => consumer.stop());

  const outboxOf = (name: string, url: string) => {
    const client = createGrpcClient(OutboxService, { url, serviceToken: auth.serviceToken, log });
    onStop(`client of ${name}`, async () => client.close());
    return [`lapse.${name}`, client] as const;
  };
  const healer = startGapHealer({
    pool,
    nats,
    sources: Object.fromEntries([
      outboxOf("catalog", peers.catalogUrl),
      outboxOf("retention-policy", peers.retentionPolicyUrl),
      outboxOf("lifecycle-evaluator", peers.lifecycleEvaluatorUrl),
      outboxOf(SERVICE, peers.auditUrl),
    ]),
    streams: ["DECISION"],
    onReplay: receiver.fromOutbox,
    passed: (_stream, sequence) => consumer.passed(sequence),
    onLost: recordLoss,
    ...common,
  });
  onStop("gap healer", () => healer.stop());
  const gauges = startGauges({ pool, ...common });
  onStop("gauges", () => gauges.stop());

  const appended = createAppendSignal();
  const listener = onNotify(pool, APPENDED_CHANNEL, (tenant) => appended.raise(tenant), { log });
  onStop("append listener", () => listener.stop());

  const server = createGrpcServer({
    services: [
      [AuditService, auditHandlers({ pool, appended })],
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
