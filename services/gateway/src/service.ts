import type { AddressInfo } from "node:net";
import {
  apiKeysOf,
  connectNats,
  createAuthenticator,
  ensureStreams,
  readiness,
  type ServiceContext,
  startOperationsServer,
} from "@lapse/kit";
import { dayLength } from "@lapse/rules";
import { createServer } from "./api/server.ts";
import { natsBroker } from "./broker.ts";
import type { GatewaySettings } from "./config.ts";
import { connectPeers } from "./peers.ts";

/** What a process gives the service to run with. */
export type ServiceDeps = Omit<ServiceContext<GatewaySettings>, "settings">;

/** Where the gateway answers, once it does. */
export interface Ports {
  readonly http: number;
  readonly operations: number;
}

/**
 * Starts the gateway; each part registers how it ends, and they end in reverse. It is ready while it is
 * connected to NATS; a service behind it that is away makes the calls that need it fail, and no others.
 */
export async function startGateway(
  settings: GatewaySettings,
  { log, metrics, signal, onStop, fail }: ServiceDeps,
): Promise<Ports> {
  const { service, auth, tables, time } = settings;
  let serving = false;
  const nats = await connectNats({
    url: settings.nats.url,
    replicas: settings.nats.replicas,
    name: "gateway",
    log,
    metrics,
  });
  onStop("NATS", () => nats.close());

  const operations = await startOperationsServer({
    host: service.host,
    port: service.operationsPort,
    metrics,
    ready: readiness({
      nats: async () => check(nats.connected, "not connected"),
      http: async () => check(serving, "not serving"),
    }),
  });
  onStop("operations server", () => operations.stop());
  ensureStreams(nats, { log, signal }).catch(fail);

  const { peers, close } = connectPeers({
    urls: settings.peers,
    serviceToken: auth.serviceToken,
    log,
  });
  onStop("clients", async () => close());

  const api = await createServer({
    peers,
    broker: natsBroker(nats),
    authenticate: createAuthenticator(auth, { apiKeys: apiKeysOf(peers.access) }),
    log,
    metrics,
    warningWindowMs: tables.expiryWarningDays * dayLength(time.daySeconds),
    now: () => new Date(),
  });
  onStop("HTTP server", () => {
    // Whoever sends requests here sees it first; those under way are finished.
    serving = false;
    return api.close();
  });
  await api.listen({ host: service.host, port: service.httpPort });
  serving = true;

  const { port } = api.server.address() as AddressInfo;
  return { http: port, operations: operations.port };
}

function check(ok: boolean, fault: string): void {
  if (!ok) throw new Error(fault);
}
