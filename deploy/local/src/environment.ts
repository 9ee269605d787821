import { LocalError } from "./local-error.ts";
import type { StackPorts } from "./ports.ts";
import type { ServiceDefinition } from "./services.ts";

/** What all services of a stack are told alike. */
export interface SharedEnvironment {
  readonly ports: StackPorts;
  readonly natsUrl: string;
  readonly publicKeyFile: string;
  readonly issuer: string;
  readonly audience: string;
  readonly objectsFolder: string;
}

/** What one service is told alone. */
export interface OwnEnvironment {
  readonly databaseUrl?: string;
  readonly tokenFile: string;
}

// Set for each service here; one value for all of them could only be wrong.
const perService = [
  "LAPSE_SERVICE__HOST",
  "LAPSE_SERVICE__GRPC_PORT",
  "LAPSE_SERVICE__OPERATIONS_PORT",
  "LAPSE_SERVICE__HTTP_PORT",
  "LAPSE_DATABASE__URL",
  "LAPSE_DATABASE__URL_FILE",
  "LAPSE_AUTH__SERVICE_TOKEN",
  "LAPSE_AUTH__SERVICE_TOKEN_FILE",
];

// The CLI's own; services refuse keys that they do not know.
const ofTheCli = ["LAPSE_URL", "LAPSE_TOKEN", "LAPSE_ENVIRONMENT"];

/**
 * The `LAPSE_*` variables given to the stack, which pass through to every service. Throws a
 * `LocalError` that names those that the stack sets per service.
 */
export function givenSettings(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const given = Object.entries(env).filter(
    ([key, value]) =>
      key.startsWith("LAPSE_") &&
      !key.startsWith("LAPSE_LOCAL__") &&
      !ofTheCli.includes(key) &&
      // An empty variable counts as not given, as it does in the services.
      Boolean(value),
  );
  const refused = given.map(([key]) => key).filter((key) => perService.includes(key));
  if (refused.length > 0) {
    throw new LocalError(
      `The embedded stack sets ${refused.join(", ")} for each service itself: unset ${refused.length === 1 ? "it" : "them"}, ` +
        "and use LAPSE_LOCAL__PORT_OFFSET to move the ports.",
    );
  }
  return Object.fromEntries(given) as Record<string, string>;
}

/** The whole environment of one service: this process's without `LAPSE_*`, the stack's settings, what was given. */
export function serviceEnvironment(
  service: ServiceDefinition,
  shared: SharedEnvironment,
  own: OwnEnvironment,
  env: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  const { ports } = shared;
  const inherited = Object.entries(env).filter(
    ([key, value]) => !key.startsWith("LAPSE_") && value !== undefined,
  );
  return {
    ...(Object.fromEntries(inherited) as Record<string, string>),
    LAPSE_SERVICE__HOST: "127.0.0.1",
    LAPSE_SERVICE__OPERATIONS_PORT: String(ports.operations[service.name]),
    ...(service.name === "gateway"
      ? { LAPSE_SERVICE__HTTP_PORT: String(ports.rest) }
      : { LAPSE_SERVICE__GRPC_PORT: String(ports.grpc[service.name]) }),
    ...(own.databaseUrl === undefined ? {} : { LAPSE_DATABASE__URL: own.databaseUrl }),
    LAPSE_NATS__URL: shared.natsUrl,
    LAPSE_AUTH__PUBLIC_KEY_FILE: shared.publicKeyFile,
    LAPSE_AUTH__ISSUER: shared.issuer,
    LAPSE_AUTH__AUDIENCE: shared.audience,
    LAPSE_AUTH__SERVICE_TOKEN_FILE: own.tokenFile,
    LAPSE_PEERS__CATALOG_URL: `http://127.0.0.1:${ports.grpc.catalog}`,
    LAPSE_PEERS__RETENTION_POLICY_URL: `http://127.0.0.1:${ports.grpc["retention-policy"]}`,
    LAPSE_PEERS__LIFECYCLE_EVALUATOR_URL: `http://127.0.0.1:${ports.grpc["lifecycle-evaluator"]}`,
    LAPSE_PEERS__ENTITY_RETENTION_RUNNER_URL: `http://127.0.0.1:${ports.grpc["entity-retention-runner"]}`,
    LAPSE_PEERS__AUDIT_URL: `http://127.0.0.1:${ports.grpc.audit}`,
    LAPSE_OBJECT_STORE__KIND: "file",
    LAPSE_OBJECT_STORE__PATH: shared.objectsFolder,
    ...givenSettings(env),
  };
}
