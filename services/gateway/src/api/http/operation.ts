import type { Readable } from "node:stream";
import * as z from "zod";
import { Problem } from "../schemas/problem.ts";
import type { Tag } from "./tags.ts";

/** Statuses that a problem can have, beside those that every route can answer. */
type ProblemStatus = 404 | 409 | 413 | 415 | 429;

const NoQuery = z.strictObject({});

const optionalBodies = new WeakSet<object>();

/** Marks an operation whose body may be left out, until the document says so in its own way. */
export const OPTIONAL_BODY = "x-optional-body";

/** A body that may be left out, which then counts as `{}`. */
export function optionalBody<Body extends z.ZodType>(body: Body) {
  const optional = z.preprocess((value) => value ?? {}, body);
  optionalBodies.add(optional);
  return optional;
}

/** For a write that takes nothing: no body, or `{}`. */
export const NoBody = optionalBody(z.strictObject({}));

/** The header that makes a repeated write have one effect. */
const WriteHeaders = z.looseObject({
  "idempotency-key": z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, {
      error: "give 1 to 200 visible ASCII characters, such as a UUID",
    })
    .optional()
    .meta({ description: "The same for every repeat of this call, so that it has one effect." }),
});

/** What the documentation and the checks of a route need to know. */
interface Operation<P, Q, B, H, A, S> {
  /** Unique, e.g. `getTable`. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  /** Given for every write, {@link NoBody} included. */
  readonly body?: B;
  readonly headers?: H;
  /** What the body of the answer is like. */
  readonly answer: A;
  /** 200 unless given. */
  readonly status?: S;
  readonly problems?: readonly ProblemStatus[];
  /** How failures are told; as problems unless given. */
  readonly failure?: Failure;
}

/** The form of a failure's body. */
interface Failure {
  readonly type: string;
  readonly schema: z.ZodType;
}

const AS_PROBLEM: Failure = { type: "application/problem+json", schema: Problem };

/** The answer of a call that has nothing to say. */
export const Nothing = z.undefined().meta({ description: "Done." });

/** A stream of server-sent events: not a JSON body, and not checked as one. */
export const EventStream = z.custom<Readable>();

/** A route's schema for fastify: unknown parameters and fields are refused, problems documented. */
export function operation<
  A extends z.ZodType,
  P extends z.ZodType = typeof NoQuery,
  Q extends z.ZodType = typeof NoQuery,
  B extends z.ZodType | undefined = undefined,
  H extends z.ZodType = typeof WriteHeaders,
  const S extends 200 | 201 | 202 | 204 = 200,
>(spec: Operation<P, Q, B, H, A, S>) {
  const write = spec.body !== undefined;
  const status = spec.status ?? 200;
  const problems = [
    400,
    401,
    403,
    ...(spec.problems ?? []),
    ...(write ? [413, 415] : []),
    500,
    503,
  ];
  const schema = {
    operationId: spec.id,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description !== undefined && { description: spec.description }),
    ...(spec.params && { params: spec.params }),
    querystring: spec.query ?? NoQuery,
    ...(write && { body: spec.body }),
    ...headers(spec.headers, write),
    ...(spec.body && optionalBodies.has(spec.body) && { [OPTIONAL_BODY]: true }),
    response: {
      [status]: answerOf(spec.answer, status),
      ...Object.fromEntries(problems.map((code) => [code, problem(code, spec.failure)])),
    },
  };
  // Types follow the parts that are checked and answered; problems are thrown, never returned.
  return schema as unknown as {
    params: P;
    querystring: Q;
    body: B extends undefined ? z.ZodUnknown : B;
    headers: H;
    response: { [K in S]: A };
  };
}

const ANSWERS = { 200: "Done.", 201: "Created.", 202: "Accepted.", 204: "Done." } as const;

function answerOf(answer: z.ZodType, status: keyof typeof ANSWERS) {
  if (answer === Nothing) return Nothing;
  const [type, schema] =
    answer === EventStream ? ["text/event-stream", z.string()] : ["application/json", answer];
  return { description: ANSWERS[status], content: { [type]: { schema } } };
}

const PROBLEMS: Readonly<Record<number, string>> = {
  400: "The request is not valid; `errors` lists every fault.",
  401: "There is no valid credential.",
  403: "The caller may not do this.",
  404: "It is not there, or not for this caller to know of.",
  409: "The state does not allow it, or something changed meanwhile.",
  413: "The body is too large.",
  415: "The body is not JSON.",
  429: "A limit is reached.",
  500: "A fault of Lapse; the log has its cause under the reference.",
  503: "A service is away; repeat the call.",
};

const problem = (status: number, { type, schema }: Failure = AS_PROBLEM) => ({
  description: PROBLEMS[status],
  content: { [type]: { schema } },
});

function headers(given: z.ZodType | undefined, write: boolean) {
  if (given) return { headers: given };
  return write ? { headers: WriteHeaders } : {};
}
