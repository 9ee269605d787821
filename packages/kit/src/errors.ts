import { describeFailure } from "./failure.ts";
import { newId } from "./ids.ts";

/** What went wrong, by what the caller can do about it; each kind has one gRPC status and one HTTP status. */
export const ERROR_KINDS = [
  /** Wrong whatever the state: correct the request. */
  "invalid",
  "not_found",
  "already_exists",
  /** Something moved meanwhile: read again, decide again. */
  "conflict",
  /** The state must change first; repeating changes nothing. */
  "precondition",
  "denied",
  "unauthenticated",
  /** A limit is reached: later, or less. */
  "exhausted",
  /** Repeat the very same call. */
  "unavailable",
  /** A fault of ours; the cause is in the log under the reference. */
  "internal",
] as const;

export type ErrorKind = (typeof ERROR_KINDS)[number];

/** One fault of a request; `field` is a JSON pointer into it, e.g. `/retention/days`. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** What an error may carry besides kind, reason and message. */
export interface ErrorOptions {
  /** Facts for programs, e.g. `{table_id: "…"}`; they travel to the caller, so no secrets and no row values. */
  readonly details?: Readonly<Record<string, string>> | undefined;
  readonly violations?: readonly FieldViolation[] | undefined;
  /** Kept for the log, never sent. */
  readonly cause?: unknown;
}

export interface LapseErrorInit extends ErrorOptions {
  readonly kind: ErrorKind;
  /** Stable UPPER_SNAKE code, the same over gRPC, REST and in the audit log. */
  readonly reason: string;
  /** A sentence that says what to do. */
  readonly message: string;
}

/** The one error class: what a use case throws, what a client of another service catches. */
export class LapseError extends Error {
  override readonly name = "LapseError";
  readonly kind: ErrorKind;
  readonly reason: string;
  readonly details: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];

  constructor({ kind, reason, message, details = {}, violations = [], cause }: LapseErrorInit) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.reason = reason;
    this.details = details;
    this.violations = violations;
  }
}

type Shorthand = (reason: string, message: string, options?: ErrorOptions) => LapseError;

const shorthand =
  (kind: ErrorKind): Shorthand =>
  (reason, message, options) =>
    new LapseError({ kind, reason, message, ...options });

/** `throw notFound("TABLE_NOT_FOUND", "there is no table bronze.trial in dev")`; likewise the others. */
export const invalid = shorthand("invalid");
export const notFound = shorthand("not_found");
export const alreadyExists = shorthand("already_exists");
export const conflict = shorthand("conflict");
export const precondition = shorthand("precondition");
export const denied = shorthand("denied");
export const unauthenticated = shorthand("unauthenticated");
export const exhausted = shorthand("exhausted");
export const unavailable = shorthand("unavailable");

/** A fault of ours: the caller learns only a reference, under which the log holds the cause. */
export function internal(cause: unknown): LapseError {
  const reference = newId();
  return new LapseError({
    kind: "internal",
    reason: "INTERNAL",
    message: `internal error (reference ${reference})`,
    details: { reference },
    cause,
  });
}

/**
 * Any thrown thing as a LapseError. A LapseError stays itself; a lost race in PostgreSQL is a
 * conflict; a database or network that is away is unavailable; the rest is internal.
 */
export function toLapseError(error: unknown): LapseError {
  if (error instanceof LapseError) return error;
  const failure = describeFailure(error);
  return failure ? new LapseError({ ...failure, cause: error }) : internal(error);
}

const TRANSIENT: readonly ErrorKind[] = ["conflict", "exhausted", "unavailable"];

/** Whether the same work may succeed later without anybody changing anything. */
export const isTransient = (error: LapseError): boolean => TRANSIENT.includes(error.kind);
