import type { CallOptions, Logger, Principal } from "@lapse/kit";

/** One request from outside, as far as the services behind the gateway are concerned. */
export interface Call {
  /** Who asks; the services decide by it. */
  readonly principal: Principal;
  /** What was asked for, e.g. `POST /api/v1/activity`: the route, without what is in its path. */
  readonly method: string;
  /** Aborted when the caller has gone; for reads only, since a write goes on to its end. */
  readonly signal: AbortSignal | undefined;
  readonly traceparent: string;
  readonly idempotencyKey: string | undefined;
  readonly log: Logger;
}

/** A service that is away is waited for as long as a restart takes, not until the caller has given up. */
const READ_WITHIN_MS = 5_000;

/** The options of a read made in answering `call`. */
export const reading = (
  { principal, signal, traceparent }: Call,
  { deadlineMs = READ_WITHIN_MS }: Pick<CallOptions, "deadlineMs"> = {},
): CallOptions => ({ principal, signal, traceparent, deadlineMs });

/**
 * The options of a write made in answering `call`. Services tell repeats apart per method, so the steps of
 * one request may all carry its key.
 */
export const writing = ({ principal, traceparent, idempotencyKey }: Call): CallOptions => ({
  principal,
  traceparent,
  idempotencyKey,
});
