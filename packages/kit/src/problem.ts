import type { ErrorKind, LapseError } from "./errors.ts";

/** RFC 9457 `application/problem+json`. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The stable reason, the same as over gRPC. */
  readonly code: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  /** Facts for programs, e.g. `table_id`. */
  readonly details?: Readonly<Record<string, string>>;
  readonly trace_id?: string;
}

const HTTP: Record<ErrorKind, readonly [status: number, title: string]> = {
  invalid: [400, "The request is not valid"],
  unauthenticated: [401, "A valid credential is needed"],
  denied: [403, "Not allowed"],
  not_found: [404, "Not found"],
  already_exists: [409, "It exists already"],
  conflict: [409, "Something changed meanwhile"],
  precondition: [409, "Not in this state"],
  exhausted: [429, "A limit is reached"],
  internal: [500, "Internal error"],
  unavailable: [503, "Not available at the moment"],
};

/** The HTTP answer for an error. Its cause is not in it. */
export function toProblem(
  { kind, reason, message, details, violations }: LapseError,
  { traceId }: { traceId?: string | undefined } = {},
): { status: number; body: ProblemDetails } {
  const [status, title] = HTTP[kind];
  const body: ProblemDetails = {
    type: `urn:lapse:error:${reason}`,
    title,
    status,
    detail: message,
    code: reason,
    ...(violations.length > 0 && {
      errors: violations.map(({ field, description }) => ({
        pointer: `#${field}`,
        detail: description,
      })),
    }),
    ...(Object.keys(details).length > 0 && { details }),
    ...(traceId !== undefined && { trace_id: traceId }),
  };
  return { status, body };
}
