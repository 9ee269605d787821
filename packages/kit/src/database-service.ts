import { AccessService } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
import { apiKeysOf, type VerifyApiKey } from "./api-keys.ts";
import { createAuthenticator } from "./auth.ts";
import { ensureStreams } from "./ensure-streams.ts";
import { migrate } from "./migrate.ts";
import { connectNats, type Nats } from "./nats.ts";
import { startOperationsServer } from "./operations.ts";
import { startOutboxRelay } from "./outbox-relay.ts";
import { outboxHandlers } from "./outbox-service.ts";
import { createPool, type Pool } from "./postgres.ts";
import { readiness } from "./readiness.ts";
import { createGrpcClient } from "./rpc/client.ts";
import { createGrpcServer } from "./rpc/server.ts";
import type { Handlers, ServiceDesc } from "./rpc/types.ts";
import type { ServiceContext } from "./service.ts";
import type { Settings } from "./settings/load.ts";
import type { SecretSource } from "./settings/secret-file.ts";

/** What every service with a database of its own cannot run without. */
export type DatabaseServiceSettings = Settings & {
  readonly database: { readonly url: string };
  readonly nats: { readonly url: string };
  readonly auth: { readonly serviceToken: SecretSource };
};

/** A service by gRPC, and what answers it. */
export type Served<S extends ServiceDesc> = readonly [S, Handlers<S>];

/** Where a service answers, once it does. */
export interface Ports {
  readonly grpc: number;
  readonly operations: number;
}

/** What a service with a database of its own stands on. */
export interface DatabaseService {
  readonly pool: Pool;
  readonly nats: Nats;
  /** Serves these and the service's outbox by gRPC; from then on the service is ready. */
  serve<const S extends readonly ServiceDesc[]>(
    ...services: { readonly [K in keyof S]: Served<S[K]> }
  ): Promise<Ports>;
}

/** What sets one such service apart from the others, to its foundations. */
export interface DatabaseServiceSpec {
  readonly name: string;
  readonly migrations: string;
  /** What API keys stand for; the catalog is asked unless given. */
  readonly apiKeys?: (pool: Pool) => VerifyApiKey;
}

/**
 * Starts what services with a database of their own have in common: pool, NATS, operations server, schema
 * from `migrations`, streams, outbox relay. Each part registers how it ends, and they end in reverse.
 */
export async function startDatabaseService<S extends DatabaseServiceSettings>(
  { name, migrations, apiKeys }: DatabaseServiceSpec,
  { settings, log, metrics, signal, onStop, fail }: ServiceContext<S>,
): Promise<DatabaseService> {
  const { service, database, auth } = settings;
  const source = `lapse.${name}`;
  const common = { log, metrics };

  const pool = createPool({
    url: database.url,
    size: database.poolSize,
    applicationName: name,
    log,
  });
  onStop("database pool", () => pool.end());
  const nats = await connectNats({
    url: settings.nats.url,
    replicas: settings.nats.replicas,
    name,
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

  await migrate({ pool, directory: migrations, log });
  ensureStreams(nats, { log, signal }).catch(fail);
  const relay = startOutboxRelay({
    pool,
    nats,
    source,
    keepDays: settings.outbox.keepDays,
    ...common,
  });
  onStop("outbox relay", () => relay.stop());

  const access = () => {
    const { serviceToken } = auth;
    const client = createGrpcClient(AccessService, {
      url: settings.peers.catalogUrl,
      serviceToken,
      log,
    });
    onStop("access client", async () => client.close());
    return client;
  };

  return {
    pool,
    nats,
    async serve(...services) {
      const server = createGrpcServer({
        services: [...services, [OutboxService, outboxHandlers({ pool, source })]],
        authenticate: createAuthenticator(auth, {
          apiKeys: apiKeys?.(pool) ?? apiKeysOf(access()),
        }),
        ...common,
      });
      onStop("gRPC server", () => server.stop());
      const grpc = await server.listen(service.host, service.grpcPort);
      server.setServing(true);
      serving = true;
      return { grpc, operations: operations.port };
    },
  };
}
