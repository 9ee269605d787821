const named: Readonly<Record<string, number>> = { warn: 40, error: 50, fatal: 60 };

/**
 * What of a service's log line a person at the terminal should see: the message of a warning or worse,
 * and whatever is not a JSON log line (a crash). `undefined` for the rest.
 */
export function notableServiceLine(line: string): string | undefined {
  if (line.trim() === "") return undefined;
  const entry = parseEntry(line);
  if (entry === undefined) return line;
  const level = typeof entry.level === "number" ? entry.level : (named[String(entry.level)] ?? 30);
  if (level < 40) return undefined;
  const label = level < 50 ? "warning" : level < 60 ? "error" : "fatal";
  const reason = errorMessage(entry.err) ?? errorMessage(entry.error);
  const message = String(entry.msg ?? entry.message ?? "");
  return `${label}: ${[message, reason === message ? undefined : reason].filter(Boolean).join(": ")}`;
}

interface LogEntry {
  readonly level?: unknown;
  readonly msg?: unknown;
  readonly message?: unknown;
  readonly err?: unknown;
  readonly error?: unknown;
}

function parseEntry(line: string): LogEntry | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}

function errorMessage(error: unknown): string | undefined {
  if (typeof error === "string") return error;
  const message = (error as { message?: unknown } | null | undefined)?.message;
  return typeof message === "string" ? message : undefined;
}
