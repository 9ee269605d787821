import { randomBytes } from "node:crypto";

/** W3C trace context: `00-<trace id>-<span id>-<flags>`. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** `value` if it is a traceparent that can be passed on, else a new one, so that everything has a trace. */
export function continueTrace(value: string | undefined): string {
  return value !== undefined && traceId(value) !== undefined ? value : newTrace();
}

/** A trace that starts here and is not sampled. */
export const newTrace = (): string =>
  `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-00`;

/** The trace id of a traceparent; undefined when it is malformed. */
export function traceId(traceparent: string): string | undefined {
  const [, trace, span] = TRACEPARENT.exec(traceparent) ?? [];
  if (trace === undefined || /^0+$/.test(trace) || /^0+$/.test(span ?? "")) return undefined;
  return traceparent.startsWith("ff") ? undefined : trace;
}
