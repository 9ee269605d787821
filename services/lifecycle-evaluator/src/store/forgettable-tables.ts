import { type Pool, withTransaction } from "@lapse/kit";
import { deleteReadHistory } from "./table-snapshots.ts";

/**
 * Deletes the rows, at most `limit`, of tables that are purged or that the catalog never spoke of, and that
 * nobody has spoken of since `before`; how many.
 */
export async function deleteForgettableTables(
  pool: Pool,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<number> {
  return withTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ table_id: string }>(
      `delete from table_state where table_id in (
         select table_id from table_state
         where state in ('unknown', 'purged') and folded_at < $1
         order by folded_at limit $2 for update skip locked)
       returning table_id`,
      [before, limit],
    );
    const tableIds = rows.map(({ table_id }) => table_id);
    if (tableIds.length > 0) {
      await deleteReadHistory(tx, tableIds);
    }
    return tableIds.length;
  });
}
