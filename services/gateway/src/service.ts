import type { AddressInfo } from "node:net";
import {
  connectNats,
  createAuthenticator,
  type Logger,
  type Metrics,
  readiness,
  startOperationsServer,
} from "@lapse/kit";
import { dayLength } from "@lapse/rules";
import { createServer } from "./api/server.ts";
import { natsBroker } from "./broker.ts";
import type { GatewaySettings } from "./config.ts";
import { connectPeers } from "./peers.ts";

/** What the gateway is started with. */
export interface GatewayContext {
  readonly settings: GatewaySettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Registers how to end what was started; run in reverse order. */
  readonly onStop: (name: string, end: () => Promise<unknown>) => void;
}

/** Where a started gateway listens. */
export interface RunningGateway {
  readonly url: string;
  readonly operationsPort: number;
}

/**
 * Starts the gateway: REST on the HTTP port. It is ready while it is connected to NATS; a service behind it
 * that is away makes the calls that need it fail, and no others.
 */
export async function startGateway({
  settings,
  log,
  metrics,
  onStop,
}: GatewayContext): Promise<RunningGateway> {
  const { service, auth, tables, time } = settings;
  let serving = false;
  const nats = await connectNats({
    url: settings.nats.url,
    replicas: settings.nats.replicas,
    name: "lapse-gateway",
    log,
    metrics,
  });
  onStop("nats", () => nats.close());

  const operations = await startOperationsServer({
    host: service.host,
    port: service.operationsPort,
    metrics,
    ready: readiness({
      nats: async () => check(nats.connected, "not connected"),
      http: async () => check(serving, "not serving"),
    }),
  });
  onStop("operations", () => operations.stop());

  const { peers, close } = connectPeers({
    urls: settings.peers,
    serviceToken: auth.serviceToken,
    log,
  });
  onStop("peers", async () => close());

  const api = await createServer({
    peers,
    broker: natsBroker(nats),
    authenticate: createAuthenticator(auth),
    log,
    metrics,
    warningWindowMs: tables.expiryWarningDays * dayLength(time.daySeconds),
    now: () => new Date(),
  });
  onStop("http", () => {
    // Whoever sends requests here sees it first; those under way are finished.
    serving = false;
    return api.close();
  });
  await api.listen({ host: service.host, port: service.httpPort });
  serving = true;

  const { port } = api.server.address() as AddressInfo;
  const host = service.host.includes(":") ? `[${service.host}]` : service.host;
  log.info({ host: service.host, port }, "REST is served");
  return { url: `http://${host}:${port}`, operationsPort: operations.port };
}

function check(ok: boolean, fault: string): void {
  if (!ok) throw new Error(fault);
}
