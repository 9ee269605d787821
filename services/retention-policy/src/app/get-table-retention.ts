import type { CallContext } from "@lapse/kit";
import type { PolicyDeps } from "../deps.ts";
import {
  findEnvironmentRetention,
  type StoredEnvironmentRetention,
} from "../store/environment-retention.ts";
import { findTableRetention, type StoredTableRetention } from "../store/table-retention.ts";

/** A table's own retention and its environment's, as stored; null where nothing is. */
export interface TableRetentions {
  readonly table: StoredTableRetention | null;
  readonly environment: StoredEnvironmentRetention | null;
}

/**
 * What is set for a table that the caller may see.
 *
 * @throws not_found `TABLE_NOT_FOUND`
 */
export async function getTableRetention(
  { pool, catalog }: Pick<PolicyDeps, "pool" | "catalog">,
  tableId: string,
  call: CallContext,
): Promise<TableRetentions> {
  const { id, environmentId } = await catalog.getTable(tableId, call);
  const [table, environment] = await Promise.all([
    findTableRetention(pool, id),
    findEnvironmentRetention(pool, environmentId),
  ]);
  return { table, environment };
}
