import type { Metrics } from "@lapse/kit";
import type { FastifyRequest } from "fastify";
import type { Api } from "./api.ts";

/** One line and one measurement per request: what was asked and answered, never a token, query or body. */
export function observeRequests(api: Api, metrics: Metrics): void {
  const seconds = metrics.histogram(
    "lapse_http_seconds",
    "Time to answer an HTTP request, by method, route and status",
    ["method", "route", "status"],
  );
  api.addHook("onResponse", async (request, reply) => {
    const elapsedMs = reply.elapsedTime;
    const route = routeOf(request);
    const labels = { method: methodOf(request), route, status: String(reply.statusCode) };
    seconds.observe(labels, elapsedMs / 1_000);
    const level = reply.statusCode >= 500 ? "warn" : "info";
    request.log[level](
      { ...labels, status: reply.statusCode, path: pathOf(request), ms: Math.round(elapsedMs) },
      "request",
    );
  });
  api.addHook("onRequestAbort", async (request) => {
    request.log.info({ method: request.method, route: routeOf(request) }, "the client went away");
  });
}

/** A closed set, so that no scan of random paths or methods makes a series of its own. */
const routeOf = ({ is404, routeOptions }: FastifyRequest): string =>
  is404 ? "unmatched" : (routeOptions.url ?? "unmatched");

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const methodOf = ({ method }: FastifyRequest): string => (METHODS.has(method) ? method : "other");

const pathOf = ({ url }: FastifyRequest): string => url.split("?", 1)[0]?.slice(0, 500) ?? "";
