import { join } from "node:path";
import {
  connectNats,
  createGrpcClient,
  createLogger,
  createMetrics,
  createPool,
  type GrpcClient,
  type Logger,
  type Nats,
  newId,
  type Pool,
  type Ports,
  type ServiceContext,
  type Settings,
} from "@lapse/kit";
import { type ObjectStore, openObjectStore } from "@lapse/object-store";
import { AuditService } from "@lapse/proto/audit";
import { CatalogService } from "@lapse/proto/catalog";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { RetentionPolicyService } from "@lapse/proto/policy";
import { freePort, testDatabase, testFolder, testNats, testTokens } from "@lapse/test-kit";
import { readSettings as auditSettings } from "../../../../services/audit/src/config.ts";
import { startAudit } from "../../../../services/audit/src/service.ts";
import { readSettings as catalogSettings } from "../../../../services/catalog/src/config.ts";
import { startCatalog } from "../../../../services/catalog/src/service.ts";
import { readSettings as evaluatorSettings } from "../../../../services/lifecycle-evaluator/src/config.ts";
import { startEvaluator } from "../../../../services/lifecycle-evaluator/src/service.ts";
import { readSettings as policySettings } from "../../../../services/retention-policy/src/config.ts";
import { startRetentionPolicy } from "../../../../services/retention-policy/src/service.ts";
import { HOLD_TTL_MS } from "../rules/holds.ts";
import { UNDO_DAYS } from "../rules/tables.ts";
import { type Peers, startPeers } from "./peers.ts";

export const SERVICES = ["catalog", "retention-policy", "lifecycle-evaluator", "audit"] as const;
type ServiceName = (typeof SERVICES)[number];

/** The services that let tables expire, in this process, over a database each and a broker of their own. */
export interface Stack {
  readonly catalog: GrpcClient<typeof CatalogService>;
  readonly policy: GrpcClient<typeof RetentionPolicyService>;
  readonly evaluator: GrpcClient<typeof LifecycleEvaluatorService>;
  readonly audit: GrpcClient<typeof AuditService>;
  readonly nats: Nats;
  readonly store: ObjectStore;
  /** Into the services' databases, for what no interface says. */
  readonly pools: Readonly<Record<ServiceName, Pool>>;
  readonly peers: Peers;
  readonly stop: () => Promise<void>;
}

const ROOT = join(import.meta.dirname, "..", "..", "..", "..");

/** Nothing runs by the clock but purges: sweeps are asked for, and all that is due goes in one. */
const SETTINGS = {
  LAPSE_RUN__SWEEP_INTERVAL: "0",
  LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: "100000",
  LAPSE_TABLES__MAX_EXPIRY_SHARE: "1",
  LAPSE_TABLES__UNDO_DAYS: String(UNDO_DAYS),
  LAPSE_TABLES__HOLD_TTL: String(HOLD_TTL_MS / 1000),
  LAPSE_DATABASE__POOL_SIZE: "16",
};

export async function startStack(): Promise<Stack> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    return { ...(await start(ends)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type End = () => Promise<unknown>;

async function start(ends: End[]): Promise<Omit<Stack, "stop">> {
  const log = createLogger({
    service: "model",
    level: (process.env.TEST_LOG_LEVEL ?? "fatal") as "fatal",
  });
  const nats = await testNats();
  ends.push(() => nats.close());
  const tokens = testTokens();
  const serviceToken = tokens.sign({ subject: "test", tenant: "*", kind: "service" });
  const ports = {
    catalog: await freePort(),
    "retention-policy": await freePort(),
    "lifecycle-evaluator": await freePort(),
    audit: await freePort(),
    peers: await freePort(),
  };
  const url = (name: keyof typeof ports) => `http://127.0.0.1:${ports[name]}`;
  const common = {
    ...SETTINGS,
    LAPSE_NATS__URL: nats.url,
    LAPSE_AUTH__PUBLIC_KEY: tokens.publicKey,
    LAPSE_AUTH__SERVICE_TOKEN: serviceToken,
    LAPSE_SERVICE__OPERATIONS_PORT: "0",
    LAPSE_OBJECT_STORE__PATH: await testFolder(),
    LAPSE_PEERS__CATALOG_URL: url("catalog"),
    LAPSE_PEERS__RETENTION_POLICY_URL: url("retention-policy"),
    LAPSE_PEERS__LIFECYCLE_EVALUATOR_URL: url("lifecycle-evaluator"),
    LAPSE_PEERS__AUDIT_URL: url("audit"),
  };
  const pools = await openPools(log, ends);
  const store = await openObjectStore({ kind: "file", path: common.LAPSE_OBJECT_STORE__PATH });
  ends.push(() => store.close());
  const env = (name: ServiceName) => ({
    ...common,
    LAPSE_DATABASE__URL: pools.urls[name],
    LAPSE_SERVICE__GRPC_PORT: String(ports[name]),
  });
  const peers = await startPeers({
    evaluatorUrl: url("lifecycle-evaluator"),
    policyUrl: url("retention-policy"),
    port: ports.peers,
    publicKey: tokens.publicKey,
    serviceToken,
    catalog: pools.of.catalog,
    log,
  });
  ends.push(() => peers.stop());
  const through = {
    LAPSE_PEERS__RETENTION_POLICY_URL: url("peers"),
    LAPSE_PEERS__LIFECYCLE_EVALUATOR_URL: url("peers"),
  };
  const run = <S extends Settings>(
    name: ServiceName,
    settings: S,
    service: (settings: S, deps: Omit<ServiceContext<S>, "settings">) => Promise<Ports>,
  ) => runService(name, { settings, service, log, ends });
  await run("lifecycle-evaluator", evaluatorSettings(env("lifecycle-evaluator")), startEvaluator);
  await run("retention-policy", policySettings(env("retention-policy")), startRetentionPolicy);
  await run("audit", auditSettings(env("audit")), startAudit);
  await run("catalog", catalogSettings({ ...env("catalog"), ...through }), (settings, deps) =>
    startCatalog(settings, { ...deps, jobIntervals: { purge: 100, removal: 100 } }),
  );
  const connection = await connectNats({
    url: nats.url,
    name: "test",
    log,
    metrics: createMetrics("test"),
  });
  ends.push(() => connection.close());
  const caller = { serviceToken, log };
  const clients = {
    catalog: createGrpcClient(CatalogService, { url: url("catalog"), ...caller }),
    policy: createGrpcClient(RetentionPolicyService, { url: url("retention-policy"), ...caller }),
    evaluator: createGrpcClient(LifecycleEvaluatorService, {
      url: url("lifecycle-evaluator"),
      ...caller,
    }),
    audit: createGrpcClient(AuditService, { url: url("audit"), ...caller }),
  };
  ends.push(async () => {
    for (const client of Object.values(clients)) client.close();
  });
  return { ...clients, nats: connection, store, pools: pools.of, peers };
}

async function openPools(log: Logger, ends: End[]) {
  const opened = await Promise.all(
    SERVICES.map(async (name) => {
      const migrations = join(ROOT, "services", name, "migrations");
      const database = await testDatabase({ migrations, name: `model-${name}` });
      ends.push(() => database.drop());
      const pool = createPool({ url: database.url, size: 4, applicationName: "test", log });
      ends.push(() => pool.end());
      return [name, database.url, pool] as const;
    }),
  );
  const urls = Object.fromEntries(opened.map(([name, url]) => [name, url]));
  const of = Object.fromEntries(opened.map(([name, , pool]) => [name, pool]));
  return { urls: urls as Record<ServiceName, string>, of: of as Record<ServiceName, Pool> };
}

/** Runs a service as its own `main` does, but for the signals. */
async function runService<S extends Settings>(
  name: ServiceName,
  {
    settings,
    service,
    log,
    ends,
  }: {
    settings: S;
    service: (settings: S, deps: Omit<ServiceContext<S>, "settings">) => Promise<Ports>;
    log: Logger;
    ends: End[];
  },
): Promise<void> {
  const stopping = new AbortController();
  const started: End[] = [];
  ends.push(async () => {
    stopping.abort();
    for (const end of started.reverse()) await end();
  });
  await service(settings, {
    log,
    metrics: createMetrics(name),
    signal: stopping.signal,
    onStop: (_part, end) => started.push(end),
    fail: (error) => log.fatal({ err: error }, `${name} cannot go on`),
  });
}

/** A name that no other environment or tenant of this run has. */
export const uniqueName = (prefix: string): string =>
  `${prefix}-${newId().replaceAll("-", "").slice(12)}`;
