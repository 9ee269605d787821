import { join } from "node:path";
import {
  createGrpcClient,
  onNotify,
  type Ports,
  type ServiceContext,
  startConsumer,
  startDatabaseService,
  startGapHealer,
} from "@lapse/kit";
import { AuditService } from "@lapse/proto/audit";
import { AccessService } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
import { auditHandlers } from "./api/handlers.ts";
import { APPENDED_CHANNEL } from "./app/append-decisions.ts";
import { createAppendSignal } from "./app/append-signal.ts";
import { recordLoss } from "./app/record-loss.ts";
import type { AuditSettings } from "./config.ts";
import { decisionReceiver } from "./events/decision-receiver.ts";
import { startGauges } from "./jobs/gauges.ts";
import { catalogPeer } from "./peers/catalog.ts";
import { SERVICE } from "./service-name.ts";

/** What a process gives the service to run with. */
export type ServiceDeps = Omit<ServiceContext<AuditSettings>, "settings">;

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");
const BATCH = 500;

/** Starts the service; each part registers how it ends, and they end in reverse. */
export async function startAudit(
  settings: AuditSettings,
  { log, metrics, signal, onStop, fail }: ServiceDeps,
): Promise<Ports> {
  const { auth, peers } = settings;
  const common = { log, metrics };

  const { pool, nats, serve } = await startDatabaseService(
    { name: SERVICE, migrations: MIGRATIONS },
    { settings, log, metrics, signal, onStop, fail },
  );

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

  const { serviceToken } = auth;
  const access = createGrpcClient(AccessService, { url: peers.catalogUrl, serviceToken, log });
  onStop("rights client", async () => access.close());

  return serve([AuditService, auditHandlers({ pool, appended, catalog: catalogPeer(access) })]);
}
