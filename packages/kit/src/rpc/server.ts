import { setMaxListeners } from "node:events";
import type { DescService } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";
import type { Authenticate } from "../auth.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { type Stoppable, stoppable } from "../stoppable.ts";
import { methodDefinition } from "./codec.ts";
import { addHealth, addReflection } from "./extras.ts";
import { serveStream, serveUnary } from "./serve.ts";
import type { ServeDeps } from "./served-call.ts";
import type { Handlers, ServiceDesc } from "./types.ts";

export interface GrpcServerSettings<S extends readonly ServiceDesc[]> {
  /** `[[CatalogService, handlers], [OutboxService, outboxHandlers(pool)]]`. */
  readonly services: { readonly [K in keyof S]: readonly [S[K], Handlers<S[K]>] };
  readonly authenticate: Authenticate;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** How long calls under way may take to finish at a stop; 10 s unless given. */
  readonly drainMs?: number;
}

export interface GrpcServer extends Stoppable {
  /** Serves on that port (0: any free one) and gives the port. */
  listen(host: string, port: number): Promise<number>;
  /** What `grpc.health.v1` answers; not serving until told otherwise. */
  setServing(serving: boolean): void;
  /** Health says not serving, streams end, unary calls finish within `drainMs`, then all is cut. */
  stop(): Promise<void>;
}

const LARGEST_MESSAGE = 4 * 1024 * 1024;

const OPTIONS = {
  "grpc.max_receive_message_length": LARGEST_MESSAGE,
  // Finds peers that vanished without closing, such as a machine that lost its power.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
};

/**
 * A gRPC server for `services`. Every call needs a token; health and reflection do not. Calls are logged
 * and measured as `lapse_grpc_server_seconds`.
 */
export function createGrpcServer<const S extends readonly ServiceDesc[]>({
  services,
  authenticate,
  log,
  metrics,
  drainMs = 10_000,
}: GrpcServerSettings<S>): GrpcServer {
  const server = new Server(OPTIONS);
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const deps: ServeDeps = {
    authenticate,
    log,
    stopping: stopping.signal,
    seconds: metrics.histogram(
      "lapse_grpc_server_seconds",
      "Time to answer a gRPC call, by method and status code",
      ["method", "code"],
    ),
  };
  for (const [desc, handlers] of services) addService(server, desc, handlers, deps);
  const descs = services.map(([desc]) => desc);
  addReflection(server, descs);
  const setServing = addHealth(server, descs);

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
        server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) =>
          error ? reject(error) : resolve(bound),
        );
      }),
    setServing: (serving) => setServing(serving && !stopping.signal.aborted),
    ...stoppable(async () => {
      stopping.abort();
      setServing(false);
      await shutDown(server, drainMs);
    }),
  };
}

function addService(
  server: Server,
  desc: ServiceDesc,
  handlers: Handlers<ServiceDesc>,
  deps: ServeDeps,
): void {
  // GenService leaves out what DescService says of `method` only; the methods themselves are the same.
  const { methods } = desc as unknown as DescService;
  const implementation: UntypedServiceImplementation = {};
  for (const method of methods) {
    const handle = handlers[method.localName] as never;
    if (method.methodKind === "unary") {
      implementation[method.localName] = serveUnary(method, handle, deps);
    } else if (method.methodKind === "server_streaming") {
      implementation[method.localName] = serveStream(method, handle, deps);
    } else {
      throw new Error(`${method.toString()}: ${method.methodKind} is not supported`);
    }
  }
  const definition = methods.map((method) => [method.localName, methodDefinition(method)] as const);
  server.addService(Object.fromEntries(definition), implementation);
}

function shutDown(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.forceShutdown(), drainMs);
    server.tryShutdown(() => {
      clearTimeout(force);
      resolve();
    });
  });
}
