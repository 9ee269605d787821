import { setTimeout as delay } from "node:timers/promises";
import type { PoolClient } from "pg";
import { internal, LapseError, toLapseError, unavailable } from "./errors.ts";
import { isConnectionLoss, isLostRace, sqlState } from "./failure.ts";
import type { Pool, Queryable } from "./postgres.ts";

export interface TransactionOptions {
  /** "read committed" unless given. */
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  /** How often the work is tried when it loses a race (serialization failure, deadlock); 5 unless given. */
  readonly attempts?: number;
}

/**
 * Runs `work` in one transaction and commits it; whatever it throws rolls back. A lost race runs `work`
 * again after a short random wait, so it must have no effect but through `tx`; past the last attempt it
 * is a `conflict`.
 *
 * @throws unavailable `OUTCOME_UNKNOWN` when the connection broke during COMMIT: it may have happened.
 */
export async function withTransaction<T>(
  pool: Pool,
  work: (tx: Queryable) => Promise<T>,
  { isolation = "read committed", attempts = 5 }: TransactionOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(pool, work, isolation);
    } catch (error) {
      if (!isLostRace(error)) throw error;
      if (attempt >= attempts) throw toLapseError(error);
      await delay(Math.random() * 10 * 2 ** attempt);
    }
  }
}

async function runOnce<T>(
  pool: Pool,
  work: (tx: Queryable) => Promise<T>,
  isolation: string,
): Promise<T> {
  const client = await pool.connect();
  let clean = false;
  try {
    await client.query(`begin isolation level ${isolation}`);
    const result = await work(client);
    await commit(client);
    clean = true;
    return result;
  } catch (error) {
    clean = await rollBack(client, error);
    throw error;
  } finally {
    client.release(!clean);
  }
}

async function commit(client: PoolClient): Promise<void> {
  let command: string;
  try {
    ({ command } = await client.query("commit"));
  } catch (error) {
    if (sqlState(error) !== undefined && !isConnectionLoss(error)) throw error;
    throw unavailable(
      OUTCOME_UNKNOWN,
      "the connection to the database broke while committing; read the state before repeating the call",
      { cause: error },
    );
  }
  // PostgreSQL answers COMMIT with ROLLBACK, not with an error, when a statement before it had failed.
  if (command !== "COMMIT") {
    throw internal(
      new Error("the error of a statement was ignored; its transaction is rolled back"),
    );
  }
}

const OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN";

/** Whether the client may be used again. */
async function rollBack(client: PoolClient, error: unknown): Promise<boolean> {
  const unknown = error instanceof LapseError && error.reason === OUTCOME_UNKNOWN;
  if (unknown || isConnectionLoss(error)) return false;
  return client.query("rollback").then(
    () => true,
    // The first error is the one to report; this connection is thrown away, and with it the transaction.
    () => false,
  );
}
