import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "./metrics.ts";
import type { Readiness } from "./readiness.ts";
import { type Stoppable, stoppable } from "./stoppable.ts";

export interface OperationsServerSettings {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly metrics: Metrics;
  readonly ready: () => Promise<Readiness>;
}

export interface OperationsServer extends Stoppable {
  readonly port: number;
}

/**
 * The HTTP server for whoever operates a service: `/healthz` (200 while the process answers at all),
 * `/readyz` (200 or 503, JSON with each check) and `/metrics` (Prometheus).
 */
export async function startOperationsServer({
  host,
  port,
  metrics,
  ready,
}: OperationsServerSettings): Promise<OperationsServer> {
  const routes: Record<string, (response: ServerResponse) => Promise<void>> = {
    "/healthz": async (response) => send(response, 200, "text/plain", "ok\n"),
    "/readyz": async (response) => {
      const state = await ready();
      send(response, state.ok ? 200 : 503, "application/json", `${JSON.stringify(state)}\n`);
    },
    "/metrics": async (response) =>
      send(response, 200, metrics.registry.contentType, await metrics.registry.metrics()),
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = ""] = (request.url ?? "").split("?");
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (!route) {
      send(response, 404, "text/plain", "not found\n");
    } else if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      send(response, 405, "text/plain", "only GET and HEAD\n");
    } else {
      await route(response);
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) =>
      send(response, 503, "text/plain", `${String(error)}\n`),
    );
  });
  await listen(server, host, port);
  const address = server.address() as AddressInfo;
  return { port: address.port, ...stoppable(() => close(server)) };
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    // A scraper keeps its connection open between scrapes, and close() would wait for it.
    server.closeAllConnections();
  });
}
