import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import {
  type CallContext,
  createGrpcServer,
  createLogger,
  createMetrics,
  type GrpcServer,
  internal,
  type ServiceDesc,
  unauthenticated,
} from "@lapse/kit";
import { AuditService } from "@lapse/proto/audit";
import { AccessService, CatalogService } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { RetentionPolicyService } from "@lapse/proto/policy";

/** Some of a service's methods, with what they answer in a test. */
type Answers<S extends ServiceDesc> = {
  [K in keyof S["method"]]?: (
    request: MessageShape<S["method"][K]["input"]>,
    context: CallContext,
  ) => S["method"][K]["methodKind"] extends "server_streaming"
    ? AsyncIterable<MessageInitShape<S["method"][K]["output"]>>
    :
        | MessageInitShape<S["method"][K]["output"]>
        | Promise<MessageInitShape<S["method"][K]["output"]>>;
};

/** The answers of every service, changed by a test as it goes. */
interface Fakes {
  catalog: Answers<typeof CatalogService>;
  access: Answers<typeof AccessService>;
  policy: Answers<typeof RetentionPolicyService>;
  evaluator: Answers<typeof LifecycleEvaluatorService>;
  audit: Answers<typeof AuditService>;
  outbox: Answers<typeof OutboxService>;
}

export interface FakeServices {
  readonly fakes: Fakes;
  /** What was called, in order: method and context. */
  readonly calls: CallContext[];
  readonly urls: Record<
    "catalogUrl" | "retentionPolicyUrl" | "lifecycleEvaluatorUrl" | "auditUrl",
    string
  >;
  readonly servers: Record<"catalog" | "policy" | "evaluator" | "audit", GrpcServer>;
  /** Answers nothing from now on but what is set afterwards. */
  reset(): void;
  stop(): Promise<void>;
}

export const GATEWAY_TOKEN = "token-of-the-gateway";

const nothing = (): Fakes => ({
  catalog: {},
  access: {},
  policy: {},
  evaluator: {},
  audit: {},
  outbox: {},
});

const log = createLogger({ service: "fake", level: "silent" });

/** The services behind the gateway, each on a port of its own, answering what a test says. */
export async function startFakeServices(): Promise<FakeServices> {
  const calls: CallContext[] = [];
  const fakes = nothing();

  const start = async (...services: readonly [ServiceDesc, keyof Fakes][]) => {
    const server = createGrpcServer({
      services: services.map(
        ([desc, name]) => [desc, handlersOf(desc, () => fakes[name], calls)] as const,
      ),
      authenticate: async (token) => {
        if (token !== GATEWAY_TOKEN)
          throw unauthenticated("TOKEN_INVALID", "not the gateway's token");
        return { subject: "gateway", tenant: "*", roles: [], kind: "service" };
      },
      log,
      metrics: createMetrics("fake"),
      drainMs: 100,
    });
    const port = await server.listen("127.0.0.1", 0);
    return { server, url: `http://127.0.0.1:${port}` };
  };
  const catalog = await start(
    [CatalogService, "catalog"],
    [AccessService, "access"],
    [OutboxService, "outbox"],
  );
  const policy = await start([RetentionPolicyService, "policy"], [OutboxService, "outbox"]);
  const evaluator = await start(
    [LifecycleEvaluatorService, "evaluator"],
    [OutboxService, "outbox"],
  );
  const audit = await start([AuditService, "audit"], [OutboxService, "outbox"]);
  const all = { catalog, policy, evaluator, audit };
  return {
    fakes,
    calls,
    urls: {
      catalogUrl: catalog.url,
      retentionPolicyUrl: policy.url,
      lifecycleEvaluatorUrl: evaluator.url,
      auditUrl: audit.url,
    },
    servers: {
      catalog: catalog.server,
      policy: policy.server,
      evaluator: evaluator.server,
      audit: audit.server,
    },
    reset() {
      calls.length = 0;
      Object.assign(fakes, nothing());
    },
    stop: async () => {
      await Promise.all(Object.values(all).map(({ server }) => server.stop()));
    },
  };
}

/** Looks the answer up when it is asked for, so that a test can change it. */
function handlersOf(desc: ServiceDesc, answers: () => object, calls: CallContext[]): never {
  const handle = (name: string) => (request: unknown, context: CallContext) => {
    calls.push(context);
    const answer = (answers() as Record<string, unknown>)[name];
    if (typeof answer === "function") return answer(request, context);
    throw internal(new Error(`the test has no answer for ${desc.typeName}.${name}`));
  };
  const names = Object.keys(desc.method);
  return Object.fromEntries(
    names.map((name) => [
      name,
      desc.method[name]?.methodKind === "server_streaming"
        ? handle(name)
        : async (request: unknown, context: CallContext) => handle(name)(request, context),
    ]),
  ) as never;
}
