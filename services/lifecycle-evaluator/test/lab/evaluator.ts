import {
  type CallOptions,
  createGrpcClient,
  createMetrics,
  type GrpcClient,
  type Metrics,
  type Principal,
} from "@lapse/kit";
import { type GetTableExpiryResponse, LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { type TestTokens, waitFor } from "@lapse/test-kit";
import { readSettings } from "../../src/config.ts";
import { startEvaluator } from "../../src/service.ts";
import type { Timing } from "../../src/timing.ts";
import { quiet } from "./database.ts";

type Client = GrpcClient<typeof LifecycleEvaluatorService>;

/** A running evaluator, as a process of its own would be. */
export interface Evaluator {
  readonly client: Client;
  /** Of its gRPC server. */
  readonly url: string;
  readonly metrics: Metrics;
  readonly operationsPort: number;
  readonly stop: () => Promise<void>;
}

export interface EvaluatorOptions {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly tokens: TestTokens;
  /** `{LAPSE_RUN__SWEEP_INTERVAL: "1"}`; sweeps are off unless given. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timing?: Partial<Timing>;
}

/** The schedule is off: sweeps run when a test asks for one. */
const ENV = {
  LAPSE_SERVICE__GRPC_PORT: "0",
  LAPSE_SERVICE__OPERATIONS_PORT: "0",
  LAPSE_RUN__SWEEP_INTERVAL: "0",
  LAPSE_PEERS__CATALOG_URL: "http://127.0.0.1:1",
  LAPSE_PEERS__RETENTION_POLICY_URL: "http://127.0.0.1:1",
};

const TIMING: Partial<Timing> = {
  leaseTtlMs: 4_000,
  healEveryMs: 200,
  missingForMs: 300,
  fenceTimeoutMs: 10_000,
  answerTimeoutMs: 20_000,
};

export async function startTestEvaluator(options: EvaluatorOptions): Promise<Evaluator> {
  const { databaseUrl, natsUrl, tokens, env = {}, timing = {} } = options;
  const serviceToken = tokens.sign({ subject: "catalog", tenant: "*", kind: "service" });
  const settings = readSettings({
    ...ENV,
    LAPSE_DATABASE__URL: databaseUrl,
    LAPSE_NATS__URL: natsUrl,
    LAPSE_AUTH__PUBLIC_KEY: tokens.publicKey,
    LAPSE_AUTH__SERVICE_TOKEN: serviceToken,
    ...env,
  });
  const metrics = createMetrics("lifecycle-evaluator");
  const stopping = new AbortController();
  const ends: (() => Promise<unknown>)[] = [];
  const ports = await startEvaluator(settings, {
    log: quiet,
    metrics,
    signal: stopping.signal,
    onStop: (_name, end) => ends.push(end),
    fail: (error) => {
      throw error;
    },
    timing: { ...TIMING, ...timing },
  });
  const url = `http://127.0.0.1:${ports.grpc}`;
  const client = createGrpcClient(LifecycleEvaluatorService, {
    url,
    serviceToken,
    log: quiet,
  });
  return {
    client,
    url,
    metrics,
    operationsPort: ports.operations,
    async stop() {
      client.close();
      stopping.abort();
      for (const end of ends.reverse()) await end();
    },
  };
}

/**
 * A table's expiry once everything that has reached the streams counts; asked again for as long as a busy machine is
 * not through with them.
 */
export function settledExpiry(
  { client }: Pick<Evaluator, "client">,
  tableId: string,
): Promise<GetTableExpiryResponse> {
  return waitFor(() => client.getTableExpiry({ tableId, consistent: true }), {
    timeoutMs: 30_000,
  });
}

/** Acts for a person of the organisation `local`, or of another. */
export function as(role: Principal["roles"][number] | null, tenant = "local"): CallOptions {
  const principal: Principal = {
    subject: `${role ?? "nobody"}@${tenant}`,
    tenant,
    roles: role === null ? [] : [role],
    kind: "person",
  };
  return { principal };
}

/** The value of a metric that has one, by its name and labels. */
export async function metricOf(
  { metrics }: Evaluator,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const metric = metrics.registry.getSingleMetric(name);
  const { values } = (await metric?.get()) ?? { values: [] };
  const found = values.find((each) =>
    Object.entries(labels).every(([key, value]) => each.labels[key] === value),
  );
  return found?.value ?? 0;
}
