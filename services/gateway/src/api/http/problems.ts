import { STATUS_CODES } from "node:http";
import {
  internal,
  invalid,
  LapseError,
  notFound,
  type ProblemDetails,
  precondition,
  toLapseError,
  toProblem,
  traceId,
} from "@lapse/kit";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Api } from "./api.ts";

/** Faults that fastify finds before a route does, in our words; by its error code. */
const FASTIFY_FAULTS: Readonly<Record<string, { status?: number; error: () => LapseError }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    error: () =>
      invalid("BODY_TOO_LARGE", "the body is too large for this route; send less, or in parts"),
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    error: () =>
      invalid("MEDIA_TYPE_UNSUPPORTED", "send JSON, with content-type: application/json"),
  },
  FST_ERR_CTP_INVALID_JSON_BODY: {
    error: () => invalid("JSON_INVALID", "the body is not valid JSON; check its syntax"),
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    error: () => invalid("BODY_INCOMPLETE", "the body is not as long as content-length says"),
  },
  FST_ERR_BAD_URL: {
    error: () => invalid("URL_INVALID", "the path is not valid: check its percent-encoding"),
  },
  FST_ERR_MAX_PARAM_LENGTH: {
    status: 414,
    error: () => invalid("URL_TOO_LONG", "a part of the path is too long"),
  },
};

/** Every failure is answered as `application/problem+json`, whoever found it. */
export function answerProblems(api: Api): void {
  api.setErrorHandler((error, request, reply) => sendProblem(error, request, reply));
  api.setNotFoundHandler((request, reply) => {
    const message = `there is nothing at ${request.method} ${pathOf(request)}; /docs lists what there is`;
    return sendProblem(notFound("ROUTE_NOT_FOUND", message), request, reply);
  });
}

/** The answer to a method that a known path does not take. */
export function methodNotAllowed(allowed: readonly string[]) {
  const error = precondition(
    "METHOD_NOT_ALLOWED",
    `this path takes ${allowed.join(", ")} and nothing else`,
  );
  return async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header("allow", allowed.join(", "));
    return sendProblem(error, request, reply, 405);
  };
}

/** Answers `thrown`; what is a fault of ours goes to the log with its cause. */
export function sendProblem(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  status?: number,
): FastifyReply {
  const { problem } = failing(thrown, request, reply, status);
  return reply.code(problem.status).type("application/problem+json").send(problem);
}

/** Prepares the answer to a failure, in whatever form its body will be: headers, and the log's line. */
export function failing(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  status?: number,
): { readonly error: LapseError; readonly problem: ProblemDetails } {
  const known = FASTIFY_FAULTS[codeOf(thrown) ?? ""];
  const error = known ? known.error() : fromThrown(thrown);
  const problem = problemOf(error, request, status ?? known?.status);
  if (error.kind === "internal") request.log.error({ err: error }, "a request failed");
  if (error.kind === "unauthenticated") {
    const detail = error.reason === "TOKEN_MISSING" ? "" : ', error="invalid_token"';
    reply.header("www-authenticate", `Bearer realm="lapse"${detail}`);
  }
  if (problem.status === 503 || problem.status === 429) reply.header("retry-after", "1");
  return { error, problem };
}

/** The problem that an error is told as. */
export function problemOf(
  error: LapseError,
  request: FastifyRequest,
  status?: number,
): ProblemDetails {
  const { body } = toProblem(error, { traceId: traceId(request.traceparent) });
  return status === undefined
    ? body
    : { ...body, status, title: STATUS_CODES[status] ?? body.title };
}

function fromThrown(thrown: unknown): LapseError {
  if (thrown instanceof LapseError) return thrown;
  const status = property(thrown, "statusCode");
  // What else fastify refuses of a request is the request's fault; its text names no secret of ours.
  if (typeof status === "number" && status >= 400 && status < 500) {
    return invalid(
      "REQUEST_INVALID",
      `the request is not valid: ${String(property(thrown, "message"))}`,
    );
  }
  return codeOf(thrown)?.startsWith("FST_") ? internal(thrown) : toLapseError(thrown);
}

const codeOf = (thrown: unknown): string | undefined => {
  const code = property(thrown, "code");
  return typeof code === "string" ? code : undefined;
};

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;

const pathOf = ({ url }: FastifyRequest): string => url.split("?", 1)[0]?.slice(0, 200) ?? "";
