import type { DescService } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  createAuthenticator,
  createGrpcClient,
  createGrpcServer,
  createMetrics,
  forwardFrom,
  type GrpcClient,
  type Handlers,
  type Logger,
  type Pool,
  type ServiceDesc,
} from "@lapse/kit";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { RetentionPolicyService } from "@lapse/proto/policy";

/** What is done around a question of the catalog to the evaluator, about the tables that it is about to drop. */
interface AroundConfirming {
  before(tableIds: readonly string[]): Promise<void>;
  after(tableIds: readonly string[]): Promise<void>;
}

/**
 * What can be turned off, as a proof that the property test sees what it prevents: `confirm`, the evaluator's second look
 * before a drop (off: whatever is asked is due); `settle`, of what a dead caller left half done (off: nothing is settled).
 */
export type Guard = "confirm" | "settle";

export interface PeerSettings {
  readonly evaluatorUrl: string;
  readonly policyUrl: string;
  readonly port: number;
  readonly publicKey: string;
  readonly serviceToken: string;
  /** Of the catalog, for an answer that asks nobody. */
  readonly catalog: Pool;
  readonly log: Logger;
}

/** The evaluator and retention-policy as the catalog reaches them: through here. */
export interface Peers {
  /** Until it is set again. */
  around(work: AroundConfirming): void;
  /** Turns a guard off, and all others on. */
  without(guard: Guard | null): void;
  stop(): Promise<void>;
}

const NOTHING: AroundConfirming = { before: async () => {}, after: async () => {} };

export async function startPeers(settings: PeerSettings): Promise<Peers> {
  const { evaluatorUrl, policyUrl, port, publicKey, serviceToken, log } = settings;
  const evaluator = createGrpcClient(LifecycleEvaluatorService, {
    url: evaluatorUrl,
    serviceToken,
    log,
  });
  const policy = createGrpcClient(RetentionPolicyService, { url: policyUrl, serviceToken, log });
  let around = NOTHING;
  let off: Guard | null = null;
  const confirming: Pick<Handlers<typeof LifecycleEvaluatorService>, "confirmTablesDue"> = {
    async confirmTablesDue(request, context) {
      await around.before(request.tableIds);
      const answer =
        off === "confirm"
          ? await allDue(settings.catalog, request.tableIds)
          : await evaluator.confirmTablesDue(request, forwardFrom(context));
      await around.after(request.tableIds);
      return answer;
    },
  };
  const settling: Pick<
    Handlers<typeof RetentionPolicyService>,
    "settleTableRetention" | "settleEnvironmentRetention"
  > = {
    settleTableRetention: async (request, context) =>
      off === "settle" ? {} : policy.settleTableRetention(request, forwardFrom(context)),
    settleEnvironmentRetention: async (request, context) =>
      off === "settle" ? {} : policy.settleEnvironmentRetention(request, forwardFrom(context)),
  };
  const server = createGrpcServer({
    services: [
      [
        LifecycleEvaluatorService,
        { ...forwarding(LifecycleEvaluatorService, evaluator), ...confirming },
      ],
      [RetentionPolicyService, { ...forwarding(RetentionPolicyService, policy), ...settling }],
    ],
    authenticate: createAuthenticator({ publicKey }),
    log,
    metrics: createMetrics("test-peers"),
  });
  await server.listen("127.0.0.1", port);
  return {
    around(work) {
      around = work;
    },
    without(guard) {
      off = guard;
    },
    async stop() {
      await server.stop();
      evaluator.close();
      policy.close();
    },
  };
}

/** Every call of the service, passed on as it came. */
function forwarding<S extends ServiceDesc>(desc: S, client: GrpcClient<S>): Handlers<S> {
  const { methods } = desc as unknown as DescService;
  const calls = client as unknown as Record<
    string,
    (request: unknown, options: unknown) => unknown
  >;
  const handlers = methods.map(({ localName }) => [
    localName,
    (request: unknown, context: Parameters<typeof forwardFrom>[0]) =>
      calls[localName]?.(request, forwardFrom(context)),
  ]);
  return Object.fromEntries(handlers) as Handlers<S>;
}

/** What an evaluator would say that looks at nothing again: all are due, at the versions they have. */
async function allDue(catalog: Pool, tableIds: readonly string[]) {
  const { rows } = await catalog.query<{
    table_id: string;
    change_version: bigint;
    retention_version: bigint;
    policy_version: bigint;
  }>(
    `select t.table_id, t.change_version, t.retention_version, e.policy_version
     from catalog_table t join environment e using (environment_id) where t.table_id = any($1::uuid[])`,
    [tableIds],
  );
  const at = timestampFromDate(new Date(0));
  return {
    confirmations: rows.map((row) => ({
      tableId: row.table_id,
      due: true,
      seen: {
        changeVersion: row.change_version,
        retentionVersion: row.retention_version,
        policyVersion: row.policy_version,
      },
      expiry: {
        tableId: row.table_id,
        source: "table",
        rule: { rule: { case: "days" as const, value: 1 } },
        setBy: "nobody",
        lastActivityAt: at,
        expiresAt: at,
      },
    })),
  };
}
