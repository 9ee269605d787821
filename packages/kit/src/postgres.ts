import pg from "pg";
import type { Logger } from "./log.ts";

/** What runs SQL: a pool, or the client of one transaction. */
export interface Queryable {
  query<R extends pg.QueryResultRow = Record<string, unknown>>(
    textOrConfig: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<R>>;
}

export type Pool = pg.Pool;

export interface PoolSettings {
  /** `postgres://user:password@host:port/database`; parameters in it win over what is set here. */
  readonly url: string;
  /** Connections at most; 10 unless given. */
  readonly size?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly log: Logger;
  /** How long one statement may run; 30 s unless given. */
  readonly statementTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** A server that hangs cannot end its own statement: then the client gives up, this much later. */
const ANSWER_MARGIN_MS = 5_000;

/**
 * A pool of connections in UTC. `int8` is read as bigint, `timestamptz` as Date, `date` and `timestamp`
 * as text (`"2026-12-31"`, never a Date of some local zone), `numeric` as text, arrays of them likewise.
 * A connection that dies is logged and replaced; it never ends the process.
 */
export function createPool({ log, ...settings }: PoolSettings): Pool {
  const pool = new pg.Pool(poolConfig(settings));
  const lost = (error: Error) => log.warn({ err: error }, "a database connection was lost");
  pool.on("error", lost);
  // The pool listens on idle clients only; one that dies while it is in use must not end the process either.
  pool.on("connect", (client) => client.on("error", lost));
  return pool;
}

/** How Lapse connects, also where a connection is made outside a pool. */
export function poolConfig({
  url,
  size = 10,
  applicationName,
  statementTimeoutMs = 30_000,
}: Omit<PoolSettings, "log">): pg.PoolConfig {
  return {
    connectionString: withUtc(url),
    max: size,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_MARGIN_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
  };
}

/** Startup options in the URL are kept; the zone is ours, because SQL such as `date_trunc` depends on it. */
function withUtc(url: string): string {
  const parsed = new URL(url);
  const given = parsed.searchParams.get("options");
  parsed.searchParams.set("options", `${given ? `${given} ` : ""}-c timezone=UTC`);
  return parsed.toString();
}

const INT8 = 20;
const INT8_ARRAY = 1016;
const TEXT_ARRAY: number = 1009;
/** date, timestamp, numeric: the text PostgreSQL writes. */
const AS_TEXT = new Set([1082, 1114, 1700]);
const AS_TEXT_ARRAY = new Set([1182, 1115, 1231]);

const text = (value: string): string => value;
const textArray = pg.types.getTypeParser(TEXT_ARRAY) as (value: string) => (string | null)[];
const bigints = (value: string): (bigint | null)[] =>
  textArray(value).map((item) => (item === null ? null : BigInt(item)));

function getTypeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  if (format !== "binary") {
    if (oid === INT8) return BigInt;
    if (oid === INT8_ARRAY) return bigints;
    if (AS_TEXT.has(oid)) return text;
    if (AS_TEXT_ARRAY.has(oid)) return textArray;
  }
  return pg.types.getTypeParser(oid, format);
}
