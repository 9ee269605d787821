import type { ErrorCode } from "./error-codes.ts";

const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** One thing wrong in a request: where, as a JSON pointer in a fragment (`#/days`), and what. */
export type Fault = { readonly pointer: string; readonly detail: string };

/** What an answer says about why it is none (RFC 9457), as far as it says so. */
export type Problem = {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly Fault[];
  readonly details?: Readonly<Record<string, string>>;
  readonly traceId?: string | null;
  readonly retryAfterMs?: number | null;
};

/**
 * A refusal or failure that was answered. `code` is stable and meant for programs (`TABLE_NOT_FOUND`,
 * `NAME_TAKEN`, …); the message is a sentence for people that says what to do.
 */
export class LapseApiError extends Error {
  override readonly name = "LapseApiError";
  /** The HTTP status. */
  readonly status: number;
  readonly code: ErrorCode;
  /** Every fault of the request, where it was not valid. */
  readonly errors: readonly Fault[];
  /** Facts for programs, e.g. `{hold_id: "…"}`. */
  readonly details: Readonly<Record<string, string>>;
  /** Finds the call in the services' logs and traces. */
  readonly traceId: string | null;
  /** How long the server asked to wait before the call is made again, in ms; null: it did not say. */
  readonly retryAfterMs: number | null;

  constructor(status: number, problem: Problem) {
    super(problem.detail);
    this.status = status;
    this.code = problem.code;
    this.errors = problem.errors ?? [];
    this.details = problem.details ?? {};
    this.traceId = problem.traceId ?? null;
    this.retryAfterMs = problem.retryAfterMs ?? null;
  }

  /** Whether the caller may not do this, or is not known (401, 403). */
  get refused(): boolean {
    return this.status === 401 || this.status === 403;
  }

  get notFound(): boolean {
    return this.status === 404;
  }

  /** Whether the very same call may succeed later (429, 502, 503, 504). The SDK has tried it again already. */
  get retryable(): boolean {
    return RETRYABLE.has(this.status);
  }
}

/** No answer: Lapse could not be reached, or did not answer in time. A write may have had its effect. */
export class LapseUnreachableError extends Error {
  override readonly name = "LapseUnreachableError";
}

/** An argument that cannot be sent, said before anything was. */
export class LapseInputError extends Error {
  override readonly name = "LapseInputError";
}
