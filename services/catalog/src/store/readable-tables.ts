import type { Queryable } from "@lapse/kit";
import type { Subject } from "./given.ts";

/** Ids of the tables of an environment that a grant opens to the subject now, in order, `limit` at most. */
export async function grantedTables(
  db: Queryable,
  { tenant, subject }: Subject,
  { environmentId, limit }: { environmentId: string; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ table_id: string }>(
    `select distinct g.table_id from table_grant g join catalog_table t using (table_id)
     where g.tenant = $1 and g.subject = $2 and g.environment_id = $3 and t.state in ('staged', 'live')
     order by g.table_id limit $4`,
    [tenant, subject, environmentId, limit],
  );
  return rows.map((row) => row.table_id);
}
