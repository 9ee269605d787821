import { type Fault, LapseApiError } from "../errors.ts";
import { retryAfterMs } from "./retry-after.ts";

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The error that an answer of this status stands for: a problem of Lapse, or of whatever stands in between. */
export function toApiError(
  status: number,
  text: string,
  headers: AnswerHeaders = {},
): LapseApiError {
  const { code, detail, errors, details, trace_id: traceId } = parseProblem(text);
  const after = headers["retry-after"];
  return new LapseApiError(status, {
    code: typeof code === "string" ? code : `HTTP_${status}`,
    detail: typeof detail === "string" ? detail : unexplained(status, headers),
    errors: Array.isArray(errors) ? errors.filter(isFault) : [],
    details: textsOf(details),
    traceId: typeof traceId === "string" ? traceId : null,
    retryAfterMs: retryAfterMs(typeof after === "string" ? after : undefined, Date.now()),
  });
}

/** What was answered is none of Lapse's: a login page, a proxy, another program. */
export function notLapse(status: number, headers: AnswerHeaders, why: string): LapseApiError {
  const type = headers["content-type"] ?? "no content type";
  return new LapseApiError(status, {
    code: "ANSWER_UNREADABLE",
    detail: `The answer (${status}, ${String(type)}) cannot be read: ${why}. Check that the address is that of a Lapse gateway.`,
  });
}

function unexplained(status: number, headers: AnswerHeaders): string {
  const { location } = headers;
  return typeof location === "string"
    ? `The server answered ${status} and points to ${location}. Check that the address is that of a Lapse gateway.`
    : `The server answered ${status} without saying why.`;
}

function parseProblem(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    // A proxy in between may answer in HTML; the status then says what there is to say.
    return {};
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isFault = (value: unknown): value is Fault =>
  isRecord(value) && typeof value.pointer === "string" && typeof value.detail === "string";

function textsOf(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)]));
}
