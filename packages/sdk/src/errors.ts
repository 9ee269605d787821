/** One thing wrong in a request: where, as a JSON pointer, and what. */
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
  readonly traceId: string | null;

  constructor(
    status: number,
    problem: { code: string; detail: string; faults?: readonly Fault[]; traceId?: string | null },
  ) {
    super(problem.detail);
    this.status = status;
    this.code = problem.code;
    this.faults = problem.faults ?? [];
    this.traceId = problem.traceId ?? null;
  }

  /** Whether the caller may not do this, or is not known (401, 403). */
  get refused(): boolean {
    return this.status === 401 || this.status === 403;
  }

  get notFound(): boolean {
    return this.status === 404;
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
