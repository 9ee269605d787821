import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema, StatusSchema } from "@lapse/proto/google-rpc";
import { type ErrorKind, type FieldViolation, LapseError } from "../errors.ts";

const DETAILS = "grpc-status-details-bin";
const DOMAIN = "lapse";

const CODES: Record<ErrorKind, status> = {
  invalid: status.INVALID_ARGUMENT,
  not_found: status.NOT_FOUND,
  already_exists: status.ALREADY_EXISTS,
  conflict: status.ABORTED,
  precondition: status.FAILED_PRECONDITION,
  denied: status.PERMISSION_DENIED,
  unauthenticated: status.UNAUTHENTICATED,
  exhausted: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  internal: status.INTERNAL,
};

/** Codes that Lapse does not send itself: those of the library, of proxies and of other servers. */
const FOREIGN_KINDS: Partial<Record<status, ErrorKind>> = {
  [status.CANCELLED]: "unavailable",
  [status.DEADLINE_EXCEEDED]: "unavailable",
  [status.OUT_OF_RANGE]: "invalid",
};

const KINDS = new Map<status, ErrorKind>(
  Object.entries(CODES).map(([kind, code]) => [code, kind as ErrorKind]),
);

export const codeOf = (kind: ErrorKind): status => CODES[kind];

/** Headers are bounded by every server and proxy; what does not fit is cut, never the whole answer. */
const LONGEST_MESSAGE = 1_000;
const MOST_DETAIL_BYTES = 6_000;

/**
 * The status of an error: kind as code, message as text, and in the details trailer `google.rpc.Status`
 * with `ErrorInfo` (reason, details) and `BadRequest` (violations). The cause stays here.
 */
export function toStatus(error: LapseError): Partial<StatusObject> {
  const code = CODES[error.kind];
  const message = cut(error.message, LONGEST_MESSAGE);
  const metadata = new Metadata();
  metadata.set(DETAILS, encodeDetails(code, message, error));
  return { code, details: message, metadata };
}

function encodeDetails(code: status, message: string, error: LapseError): Buffer {
  const { reason, details, violations } = error;
  for (let most = violations.length; ; most = Math.floor(most / 2)) {
    const bytes = encodeStatus(code, message, { reason, details }, violations.slice(0, most));
    if (bytes.length <= MOST_DETAIL_BYTES) return bytes;
    if (most === 0) return encodeStatus(code, message, { reason, details: {} }, []);
  }
}

function encodeStatus(
  code: status,
  message: string,
  { reason, details }: Pick<LapseError, "reason" | "details">,
  violations: readonly FieldViolation[],
): Buffer {
  const info = create(ErrorInfoSchema, { reason, domain: DOMAIN, metadata: { ...details } });
  const packed = [anyPack(ErrorInfoSchema, info)];
  if (violations.length > 0) {
    const fieldViolations = violations.map(({ field, description }) => ({ field, description }));
    packed.push(anyPack(BadRequestSchema, create(BadRequestSchema, { fieldViolations })));
  }
  const whole = create(StatusSchema, { code, message, details: packed });
  return Buffer.from(toBinary(StatusSchema, whole));
}

/** A cut may split a surrogate pair, which grpc-js cannot encode: writing as UTF-8 and back mends it. */
const cut = (text: string, most: number): string =>
  Buffer.from(text.length > most ? `${text.slice(0, most - 1)}…` : text).toString();

/** The error that a status stands for; without our details trailer, the reason is the code's name. */
export function fromStatus(error: ServiceError): LapseError {
  const kind = KINDS.get(error.code) ?? FOREIGN_KINDS[error.code] ?? "internal";
  const [bytes] = error.metadata?.get(DETAILS) ?? [];
  const sent = bytes instanceof Uint8Array ? decodeDetails(bytes) : undefined;
  return new LapseError({
    kind,
    reason: sent?.reason ?? status[error.code] ?? "UNKNOWN",
    message: sent?.message ?? error.details,
    details: sent?.details,
    violations: sent?.violations,
    cause: error,
  });
}

function decodeDetails(bytes: Uint8Array) {
  try {
    const { message, details } = fromBinary(StatusSchema, bytes);
    const info = details.map((any) => anyUnpack(any, ErrorInfoSchema)).find(Boolean);
    if (info?.domain !== DOMAIN) return undefined;
    const faults = details.map((any) => anyUnpack(any, BadRequestSchema)).find(Boolean);
    const violations = (faults?.fieldViolations ?? []).map(({ field, description }) => ({
      field,
      description,
    }));
    return { reason: info.reason, message, details: info.metadata, violations };
  } catch {
    // Not ours, or damaged on the way: code and text still say what happened.
    return undefined;
  }
}
