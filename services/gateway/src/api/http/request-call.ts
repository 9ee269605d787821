import {
  type Authenticate,
  continueTrace,
  type Logger,
  newId,
  type Principal,
  traceId,
  unauthenticated,
} from "@lapse/kit";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Call } from "../../app/call.ts";
import type { Api } from "./api.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** W3C trace of the request: the caller's, or a new one. */
    traceparent: string;
    /** Who asks; null until it is known. */
    principal: Principal | null;
  }
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** The caller's `x-request-id` when it may go into a log line, else a new one. */
export function requestId(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && REQUEST_ID.test(given) ? given : newId();
}

/** Gives every request its trace, and its log both ids; every answer says its request id. */
export function traceRequests(api: Api): void {
  api.decorateRequest("traceparent", "");
  api.decorateRequest("principal", null);
  api.addHook("onRequest", async (request, reply) => {
    const given = request.headers.traceparent;
    request.traceparent = continueTrace(typeof given === "string" ? given : undefined);
    request.log = request.log.child({ trace_id: traceId(request.traceparent) });
    reply.header("x-request-id", request.id);
  });
}

/** The bearer token of a request; undefined: it has none. */
export const bearerToken = ({ headers }: FastifyRequest): string | undefined =>
  /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];

/** Lets through only requests with a valid bearer token. */
export function requirePrincipal(api: Api, authenticate: Authenticate): void {
  api.addHook("onRequest", async (request) => {
    const token = bearerToken(request);
    if (token === undefined) {
      const message = "a valid credential is needed: authorization: Bearer <token>";
      throw unauthenticated("TOKEN_MISSING", message);
    }
    request.principal = await authenticate(token);
    const { subject, tenant } = request.principal;
    request.log = request.log.child({ subject, tenant });
  });
}

/** The call that a request is, for the services behind the gateway. */
export function callOf(request: FastifyRequest, reply: FastifyReply): Call {
  const { principal, traceparent, headers } = request;
  if (!principal) throw new Error(`${request.routeOptions.url} is served without a principal`);
  const key = headers["idempotency-key"];
  const read = request.method === "GET" || request.method === "HEAD";
  return {
    principal,
    method: `${request.method} ${request.routeOptions.url ?? ""}`,
    traceparent,
    signal: read ? untilGone(reply) : undefined,
    idempotencyKey: read || typeof key !== "string" ? undefined : key,
    // The request's log is the service's own, narrowed to what fastify needs of it.
    log: request.log as Logger,
  };
}

/** Aborted when the answer is sent, or its receiver has gone. */
function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return gone.signal;
}
