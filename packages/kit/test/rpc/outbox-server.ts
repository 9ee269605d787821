import {
  type CallContext,
  createGrpcClient,
  createGrpcServer,
  createLogger,
  createMetrics,
  type GrpcClient,
  type Handlers,
  type LogLevel,
  type Principal,
  unauthenticated,
} from "@lapse/kit";
import { OutboxService } from "@lapse/proto/common";

export type OutboxHandlers = Handlers<typeof OutboxService>;
export type OutboxClient = GrpcClient<typeof OutboxService>;

export const PRINCIPALS: Record<string, Principal> = {
  ana: { subject: "ana", tenant: "acme", roles: ["reader"], kind: "person" },
  catalog: { subject: "catalog", tenant: "*", roles: [], kind: "service" },
};

/** The token is the principal's name. */
export const authenticate = async (token: string): Promise<Principal> => {
  const principal = PRINCIPALS[token];
  if (!principal) throw unauthenticated("TOKEN_INVALID", "the token is not accepted");
  return principal;
};

export const silent = createLogger({ service: "test", level: "silent" });

const unused = (): never => {
  throw new Error("this test does not call it");
};

/** A server of OutboxService on a free port with these handlers, and a client of it as the catalog. */
export async function startOutboxServer(
  handlers: Partial<OutboxHandlers>,
  { level = "silent", drainMs = 1_000 }: { level?: LogLevel; drainMs?: number } = {},
) {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const metrics = createMetrics("test");
  const server = createGrpcServer({
    services: [[OutboxService, { getOutboxHead: unused, replayOutbox: unused, ...handlers }]],
    authenticate,
    log: createLogger({ service: "test", level, destination }),
    metrics,
    drainMs,
  });
  const port = await server.listen("127.0.0.1", 0);
  const url = `http://127.0.0.1:${port}`;
  const clients: { close(): void }[] = [];
  const clientOf = (serviceToken: string): OutboxClient => {
    const client = createGrpcClient(OutboxService, { url, serviceToken, log: silent });
    clients.push(client);
    return client;
  };
  return {
    server,
    port,
    url,
    lines,
    metrics,
    clientOf,
    client: clientOf("catalog"),
    async end() {
      for (const client of clients) client.close();
      await server.stop();
    },
  };
}

export type OutboxServer = Awaited<ReturnType<typeof startOutboxServer>>;

/** A handler that notes what it knows of each call. */
export function noting(): { contexts: CallContext[]; handlers: Partial<OutboxHandlers> } {
  const contexts: CallContext[] = [];
  const getOutboxHead: OutboxHandlers["getOutboxHead"] = async (_, context) => {
    contexts.push(context);
    return {};
  };
  return { contexts, handlers: { getOutboxHead } };
}
