import {
  createGrpcClient,
  type GrpcClient,
  internal,
  isTransient,
  type LapseError,
  type Logger,
  type SecretSource,
  type ServiceDesc,
  toLapseError,
  unavailable,
} from "@lapse/kit";
import { AuditService } from "@lapse/proto/audit";
import { AccessService, CatalogService } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { RetentionPolicyService } from "@lapse/proto/policy";

/** The services behind the gateway. */
export interface Peers {
  readonly catalog: GrpcClient<typeof CatalogService>;
  /** Who may do what; the catalog serves it. */
  readonly access: GrpcClient<typeof AccessService>;
  readonly policy: GrpcClient<typeof RetentionPolicyService>;
  readonly evaluator: GrpcClient<typeof LifecycleEvaluatorService>;
  readonly audit: GrpcClient<typeof AuditService>;
  /** The outbox of each service, by the service's name. */
  readonly outboxes: Readonly<Record<string, GrpcClient<typeof OutboxService>>>;
}

/** Where the services are, as the settings say. */
export interface PeerUrls {
  readonly catalogUrl: string;
  readonly retentionPolicyUrl: string;
  readonly lifecycleEvaluatorUrl: string;
  readonly auditUrl: string;
}

/** Clients of all services. Connections are made with the first call; `close` ends them. */
export function connectPeers(deps: {
  readonly urls: PeerUrls;
  readonly serviceToken: SecretSource;
  readonly log: Logger;
}): { readonly peers: Peers; close(): void } {
  const { urls, serviceToken, log } = deps;
  const open: { close(): void }[] = [];
  const connect = <S extends ServiceDesc>(service: string, desc: S, url: string) => {
    const client = createGrpcClient(desc, { url, serviceToken, log });
    open.push(client);
    return speakingOf(service, client);
  };
  return {
    peers: {
      catalog: connect("catalog", CatalogService, urls.catalogUrl),
      access: connect("catalog", AccessService, urls.catalogUrl),
      policy: connect("retention-policy", RetentionPolicyService, urls.retentionPolicyUrl),
      evaluator: connect(
        "lifecycle-evaluator",
        LifecycleEvaluatorService,
        urls.lifecycleEvaluatorUrl,
      ),
      audit: connect("audit", AuditService, urls.auditUrl),
      outboxes: {
        catalog: connect("catalog", OutboxService, urls.catalogUrl),
        "retention-policy": connect("retention-policy", OutboxService, urls.retentionPolicyUrl),
        "lifecycle-evaluator": connect(
          "lifecycle-evaluator",
          OutboxService,
          urls.lifecycleEvaluatorUrl,
        ),
        audit: connect("audit", OutboxService, urls.auditUrl),
      },
    },
    close: () => {
      for (const client of open) client.close();
    },
  };
}

/** The client with every failure told in words for callers from outside: see {@link outwards}. */
function speakingOf<C extends object>(service: string, client: C): C {
  const calls = Object.entries(client).map(([name, call]: [string, unknown]) => {
    if (typeof call !== "function" || name === "close") return [name, call];
    const spoken = (...args: unknown[]) => {
      const answer: unknown = call(...args);
      return answer instanceof Promise
        ? answer.catch((error: unknown) => Promise.reject(outwards(service, error, name)))
        : eachOutwards(service, answer as AsyncIterable<unknown>);
    };
    return [name, spoken];
  });
  return Object.fromEntries(calls) as C;
}

async function* eachOutwards(service: string, messages: AsyncIterable<unknown>) {
  try {
    yield* messages;
  } catch (error) {
    throw outwards(service, error);
  }
}

/** Reasons that the connection gives, not the service: they name addresses and codes that are ours alone. */
const OF_THE_CONNECTION = new Set([
  "PEER_UNREACHABLE",
  "UNAVAILABLE",
  "DEADLINE_EXCEEDED",
  "CANCELLED",
]);

/** What the catalog says of the caller's own key, when it is asked for one. */
const OF_THE_KEY: Readonly<Record<string, ReadonlySet<string>>> = {
  authenticateApiKey: new Set(["KEY_EXPIRED", "KEY_REVOKED", "TOKEN_INVALID"]),
};

/**
 * A peer's failure as the gateway's caller gets it: a service that is away by its name, and a refusal of
 * the gateway's own credential as our fault, because the caller's was found good, or is what `method` asks for.
 */
export function outwards(service: string, thrown: unknown, method = ""): LapseError {
  const error = toLapseError(thrown);
  if (OF_THE_CONNECTION.has(error.reason)) {
    return unavailable(
      "SERVICE_UNAVAILABLE",
      `${service} does not answer at the moment; repeat the call`,
      { details: { service }, cause: error },
    );
  }
  const ofTheKey = OF_THE_KEY[method];
  if (ofTheKey) return ofTheKey.has(error.reason) || isTransient(error) ? error : internal(error);
  const ofOurs = error.kind === "unauthenticated" || error.reason === "ON_BEHALF_OF_REFUSED";
  return ofOurs ? internal(error) : error;
}
