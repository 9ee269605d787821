import { type Queryable, withTransaction } from "@lapse/kit";
import type { PolicyDeps } from "../deps.ts";
import { settle } from "../domain/version.ts";
import { lockTableRetention, type TableKey } from "../store/table-retention.ts";
import { stampTable } from "./stamp-table.ts";

/**
 * Stamps the table's rule in force, or its absence, with a version that the catalog gave out, so that the
 * table can expire again though whoever was given that version never committed. It decides nothing, so there
 * is no decision.
 */
export async function settleTableRetention(
  { pool }: Pick<PolicyDeps, "pool">,
  key: TableKey,
  version: bigint,
): Promise<void> {
  await withTransaction(pool, (tx) => settleTable(tx, key, version));
}

/** {@link settleTableRetention} as part of a transaction. */
export async function settleTable(tx: Queryable, key: TableKey, version: bigint): Promise<void> {
  const locked = await lockTableRetention(tx, key);
  const next = settle(locked, version);
  if (next !== null) {
    await stampTable(tx, locked, next, "settled");
  }
}
