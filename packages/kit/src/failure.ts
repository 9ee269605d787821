/** How a failure that is not a LapseError reads to a caller. */
interface Failure {
  readonly kind: "conflict" | "unavailable";
  readonly reason: string;
  readonly message: string;
}

const DATABASE_AWAY: Failure = {
  kind: "unavailable",
  reason: "DATABASE_UNAVAILABLE",
  message: "the database cannot be reached at the moment; repeat the call",
};
const DATABASE_SLOW: Failure = {
  kind: "unavailable",
  reason: "DATABASE_TIMEOUT",
  message: "the database took too long; repeat the call",
};
const LOST_RACE: Failure = {
  kind: "conflict",
  reason: "CONCURRENT_CHANGE",
  message: "another change of the same thing came between; read it again and repeat",
};
const NETWORK_AWAY: Failure = {
  kind: "unavailable",
  reason: "DEPENDENCY_UNAVAILABLE",
  message: "a service this call depends on cannot be reached at the moment; repeat the call",
};
const CANCELLED: Failure = {
  kind: "unavailable",
  reason: "CANCELLED",
  message: "the call was cancelled or ran out of time before it was done",
};

const NETWORK_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** The driver says these without a code, and node-postgres has no class for them. */
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

/** The kind of a known failure of the database, the network or a cancelled wait; undefined: not one of these. */
export function describeFailure(error: unknown): Failure | undefined {
  const state = sqlState(error);
  if (state !== undefined) return fromSqlState(state);
  if (isConnectionLoss(error)) return hasNetworkCode(error) ? NETWORK_AWAY : DATABASE_AWAY;
  const name = property(error, "name");
  return name === "AbortError" || name === "TimeoutError" ? CANCELLED : undefined;
}

/** The SQLSTATE of what PostgreSQL answered, also when the error was wrapped; undefined: it did not answer. */
export function sqlState(error: unknown): string | undefined {
  let at = error;
  for (let depth = 0; depth < 8 && at !== undefined && at !== null; depth++) {
    const code = property(at, "code");
    // `severity` tells it from a system error: EPIPE has five capitals too.
    if (typeof code === "string" && code.length === 5 && property(at, "severity")) return code;
    at = property(at, "cause");
  }
  return undefined;
}

/** The constraint that a violation names (SQLSTATE class 23), for telling which rule was broken. */
export function violatedConstraint(error: unknown): string | undefined {
  const constraint = property(error, "constraint");
  return sqlState(error)?.startsWith("23") && typeof constraint === "string"
    ? constraint
    : undefined;
}

/** Serialization failure or deadlock: the transaction did nothing and may be run again. */
export function isLostRace(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** The connection is gone, so what was sent last may or may not have been done. */
export function isConnectionLoss(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|57P)/.test(state) || state === "25P03";
  const message = property(error, "message");
  return hasNetworkCode(error) || (typeof message === "string" && CONNECTION_LOST.test(message));
}

function fromSqlState(state: string): Failure | undefined {
  if (state === "40001" || state === "40P01") return LOST_RACE;
  if (state === "57014" || state === "55P03") return DATABASE_SLOW;
  // Out of connections or memory, read-only after a fail-over, ended by a timeout of the session.
  if (/^(08|53|57P|25006|25P03|25P04)/.test(state)) return DATABASE_AWAY;
  return undefined;
}

const hasNetworkCode = (error: unknown): boolean =>
  NETWORK_CODES.has(String(property(error, "code") ?? ""));

/** Reads by duck type: errors of the runtime and of a library are not always `instanceof` ours. */
function property(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Record<string, unknown>)[key]
    : undefined;
}
