import { type Fault, LapseApiError } from "./errors.ts";

/** The error that an answer of this status stands for: a problem of Lapse, or whatever stands in between. */
export function toApiError(status: number, text: string): LapseApiError {
  const { code, detail, errors, details, trace_id: traceId } = parseProblem(text);
  return new LapseApiError(status, {
    code: typeof code === "string" ? code : `HTTP_${status}`,
    detail: typeof detail === "string" ? detail : `The server answered ${status}.`,
    faults: Array.isArray(errors) ? (errors as Fault[]) : [],
    details: isRecord(details) ? (details as Record<string, string>) : {},
    traceId: typeof traceId === "string" ? traceId : null,
  });
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
  typeof value === "object" && value !== null;
