import type { Queryable } from "@lapse/kit";
import {
  TABLE_COLUMNS,
  TABLE_SOURCE,
  type TableInEnvironment,
  type TableRow,
  toTableInEnvironment,
} from "./table-row.ts";

/** The tables of these ids, in whatever state. */
export async function findTables(
  db: Queryable,
  tableIds: readonly string[],
): Promise<TableInEnvironment[]> {
  const { rows } = await db.query<TableRow>(
    `select ${TABLE_COLUMNS} from ${TABLE_SOURCE} where t.table_id = any($1)`,
    [tableIds],
  );
  return rows.map(toTableInEnvironment);
}

/** The live tables of these names in a tenant's environments. */
export async function findLiveTablesNamed(
  db: Queryable,
  tenant: string,
  names: readonly {
    readonly environment: string;
    readonly namespace: string;
    readonly name: string;
  }[],
): Promise<TableInEnvironment[]> {
  const { rows } = await db.query<TableRow>(
    `select ${TABLE_COLUMNS}
     from (select distinct * from unnest($2::text[], $3::text[], $4::text[]) as u (environment, namespace, name)) n
     join environment e on e.tenant = $1 and e.name = n.environment and e.deleted_at is null
     join catalog_table t on t.environment_id = e.environment_id and t.namespace = n.namespace
       and t.name = n.name and t.state = 'live'`,
    [
      tenant,
      names.map(({ environment }) => environment),
      names.map(({ namespace }) => namespace),
      names.map(({ name }) => name),
    ],
  );
  return rows.map(toTableInEnvironment);
}
