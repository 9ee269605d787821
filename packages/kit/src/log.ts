import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";

/** JSON lines: ISO time, level as a word, `service`; values in fields, the message a fixed phrase. */
export type Logger = PinoLogger;

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const SECRET_FIELDS = [
  "authorization",
  "credential",
  "password",
  "secret",
  "secretKey",
  "secret_key",
  "serviceToken",
  "service_token",
  "token",
];

/**
 * The log of one service. Fields whose name says that they hold a secret are replaced, at the top and
 * one level below (`{token}`, `{headers: {authorization}}`), and an `err` field prints its causes.
 */
export function createLogger({
  service,
  level = "info",
  destination,
}: {
  service: string;
  level?: LogLevel;
  /** Standard output unless given. */
  destination?: DestinationStream;
}): Logger {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => describeError(error, 0) },
    redact: {
      paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
      censor: "[secret]",
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** PostgreSQL's `detail` and `where` quote row values, so only these are printed. */
const PRINTED = ["code", "kind", "reason", "details", "severity", "table", "constraint"] as const;

function describeError(error: unknown, depth: number): unknown {
  if (typeof error !== "object" || error === null || depth > 5) return String(error);
  const from = error as Record<string, unknown>;
  const printed: Record<string, unknown> = {
    type: from.name,
    message: from.message,
    stack: from.stack,
  };
  for (const key of PRINTED) if (from[key] !== undefined) printed[key] = from[key];
  if (from.cause !== undefined) printed.cause = describeError(from.cause, depth + 1);
  return printed;
}
