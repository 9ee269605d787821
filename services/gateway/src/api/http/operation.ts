import type { Readable } from "node:stream";
import * as z from "zod";
import { Problem } from "../schemas/problem.ts";
import type { Tag } from "./tags.ts";

/** Statuses that a problem can have, beside those that every route can answer. */
type ProblemStatus = 404 | 409 | 413 | 415 | 429;

const NoQuery = z.strictObject({});

/** For a write that takes nothing: no body, or `{}`. */
export const NoBody = optionalBody(z.strictObject({}));

/** A body that may be left out, which then counts as `{}`. */
export function optionalBody<Body extends z.ZodType>(body: Body) {
  return z.preprocess((value) => value ?? {}, body);
}

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
}

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
    response: {
      [status]: (spec.answer as z.ZodType) === EventStream ? EVENT_STREAM : spec.answer,
      ...Object.fromEntries(problems.map((code) => [code, PROBLEM])),
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

const EVENT_STREAM = {
  description: "Server-sent events.",
  content: { "text/event-stream": { schema: z.string() } },
};

const PROBLEM = {
  description: "A problem; `code` says which.",
  content: { "application/problem+json": { schema: Problem } },
};

function headers(given: z.ZodType | undefined, write: boolean) {
  if (given) return { headers: given };
  return write ? { headers: WriteHeaders } : {};
}
