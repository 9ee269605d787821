const REPEATABLE = new Set([429, 502, 503, 504]);

/** One thing wrong in a request: where, as a JSON pointer in a fragment (`#/days`), and what. */
export type Fault = { readonly pointer: string; readonly detail: string };

/**
 * A refusal or failure that Lapse answered. `code` is stable and meant for programs
 * (`TABLE_NOT_FOUND`, `NAME_TAKEN`, …); the message is a sentence for people.
 */
export class LapseApiError extends Error {
  override readonly name = "LapseApiError";
  readonly status: number;
  readonly code: string;
  readonly faults: readonly Fault[];
  /** Facts for programs, e.g. `{hold_id: "…"}`. */
  readonly details: Readonly<Record<string, string>>;
  readonly traceId: string | null;

  constructor(
    status: number,
    problem: {
      code: string;
      detail: string;
      faults?: readonly Fault[];
      details?: Readonly<Record<string, string>>;
      traceId?: string | null;
    },
  ) {
    super(problem.detail);
    this.status = status;
    this.code = problem.code;
    this.faults = problem.faults ?? [];
    this.details = problem.details ?? {};
    this.traceId = problem.traceId ?? null;
  }

  /** Whether the caller may not do this, or is not known (401, 403). */
  get refused(): boolean {
    return this.status === 401 || this.status === 403;
  }

  get notFound(): boolean {
    return this.status === 404;
  }

  /** Whether the very same call may succeed later (429, 502, 503, 504). */
  get repeatable(): boolean {
    return REPEATABLE.has(this.status);
  }
}

/** No answer from Lapse: it could not be reached, or did not answer in time. */
export class LapseUnreachableError extends Error {
  override readonly name = "LapseUnreachableError";
}

/** An argument that cannot be sent, said before anything was. */
export class LapseInputError extends Error {
  override readonly name = "LapseInputError";
}
