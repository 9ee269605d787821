import { NatsError } from "nats";
import { invalid, LapseError, toLapseError, unavailable } from "./errors.ts";

/** JetStream's own error numbers (`api_error.err_code`) that Lapse acts on. */
export const JETSTREAM = {
  consumerNotFound: 10014,
  messageNotFound: 10037,
  insufficientStorage: 10047,
  messageTooLarge: 10054,
  streamNotFound: 10059,
  wrongStream: 10060,
  streamFull: 10077,
} as const;

/** JetStream's error number; undefined: the error is of another origin. */
export const jetstreamCode = (error: unknown): number | undefined =>
  error instanceof NatsError ? error.api_error?.err_code : undefined;

const NO_RESPONDERS = "503";
const TOO_LARGE = "MAX_PAYLOAD_EXCEEDED";

/**
 * Any failure of the NATS client as a LapseError: `invalid EVENT_TOO_LARGE` for a message that no retry
 * makes smaller, otherwise `unavailable` with `STREAM_NOT_FOUND`, `STREAM_FULL` or `NATS_UNAVAILABLE`.
 */
export function toNatsFailure(error: unknown): LapseError {
  if (error instanceof LapseError) return error;
  if (!(error instanceof NatsError)) return toLapseError(error);
  const code = jetstreamCode(error);
  if (error.code === TOO_LARGE || code === JETSTREAM.messageTooLarge) {
    return invalid("EVENT_TOO_LARGE", "the message is larger than NATS takes: split it", {
      cause: error,
    });
  }
  if (code === JETSTREAM.streamFull || code === JETSTREAM.insufficientStorage) {
    return unavailable("STREAM_FULL", "the stream takes no more: let its consumers catch up", {
      cause: error,
    });
  }
  // A subject that no stream takes answers like a server without JetStream: nobody is there.
  const nobody = code === undefined && error.code === NO_RESPONDERS;
  if (nobody || code === JETSTREAM.streamNotFound || code === JETSTREAM.wrongStream) {
    return unavailable("STREAM_NOT_FOUND", "the stream is missing: it is made again", {
      cause: error,
    });
  }
  return unavailable("NATS_UNAVAILABLE", `NATS did not do it (${error.message}): repeat`, {
    cause: error,
  });
}

/** Whether the stream has to be made (again) before the same call can succeed. */
export const isStreamMissing = (error: unknown): boolean =>
  toNatsFailure(error).reason === "STREAM_NOT_FOUND";
