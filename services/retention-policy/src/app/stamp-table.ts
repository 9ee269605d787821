import type { Queryable } from "@lapse/kit";
import type { TableRetention } from "@lapse/rules";
import type { Versioned } from "../domain/version.ts";
import { type ClearedReason, publishTableRetention } from "../events/table-retention.ts";
import { type StoredTableRetention, storeTableRetention } from "../store/table-retention.ts";

/** Stores what a table's rule is as of a version, over the row that the transaction locked, and says so. */
export async function stampTable(
  tx: Queryable,
  locked: StoredTableRetention,
  next: Versioned<TableRetention>,
  clearedReason: ClearedReason,
): Promise<StoredTableRetention> {
  const stored = { ...locked, ...next };
  await storeTableRetention(tx, locked.tableId, next);
  await publishTableRetention(tx, stored, clearedReason);
  return stored;
}
