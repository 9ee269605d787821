import { type Queryable, violatedConstraint } from "@lapse/kit";
import type { Table } from "../domain/table.ts";
import { exactlyOne } from "./rows.ts";
import {
  TABLE_COLUMNS,
  TABLE_SOURCE,
  type TableInEnvironment,
  type TableRow,
  toTableInEnvironment,
} from "./table-row.ts";

/** The place of a live table, or of the generations of a dropped one. */
export interface TablePlace {
  readonly environmentId: string;
  readonly namespace: string;
  readonly name: string;
}

/** The table of this id, in whatever state. */
export async function findTable(
  db: Queryable,
  tableId: string,
): Promise<TableInEnvironment | undefined> {
  return first(
    await db.query<TableRow>(`select ${TABLE_COLUMNS} from ${TABLE_SOURCE} where t.table_id = $1`, [
      tableId,
    ]),
  );
}

/** The live table of this name. */
export async function findLiveTable(
  db: Queryable,
  { environmentId, namespace, name }: TablePlace,
): Promise<TableInEnvironment | undefined> {
  return first(
    await db.query<TableRow>(
      `select ${TABLE_COLUMNS} from ${TABLE_SOURCE}
       where t.environment_id = $1 and t.namespace = $2 and t.name = $3 and t.state = 'live'`,
      [environmentId, namespace, name],
    ),
  );
}

/** The generation of this name that was dropped last, also when it is purged by now. */
export async function findLastDroppedTable(
  db: Queryable,
  { environmentId, namespace, name }: TablePlace,
): Promise<TableInEnvironment | undefined> {
  return first(
    await db.query<TableRow>(
      `select ${TABLE_COLUMNS} from ${TABLE_SOURCE}
       where t.environment_id = $1 and t.namespace = $2 and t.name = $3 and t.dropped_at is not null
       order by t.dropped_at desc, t.table_id desc limit 1`,
      [environmentId, namespace, name],
    ),
  );
}

/**
 * The table of this id, its row locked for the rest of the transaction: `update` orders every change of it, `share`
 * keeps it as it is while a lease on it is taken. What depends on the lock is read after it, in a statement of its own.
 */
export async function lockTable(
  tx: Queryable,
  tableId: string,
  lock: "update" | "share" = "update",
): Promise<TableInEnvironment | undefined> {
  return first(
    await tx.query<TableRow>(
      `select ${TABLE_COLUMNS} from ${TABLE_SOURCE} where t.table_id = $1 for ${lock} of t`,
      [tableId],
    ),
  );
}

/**
 * The tables of these ids, their rows locked for update, always in the same order. With `skip` those are left out that
 * another transaction holds.
 */
export async function lockTables(
  tx: Queryable,
  tableIds: readonly string[],
  lock: "wait" | "skip",
): Promise<TableInEnvironment[]> {
  const { rows } = await tx.query<TableRow>(
    `select ${TABLE_COLUMNS} from ${TABLE_SOURCE} where t.table_id = any($1)
     order by t.table_id for update of t ${lock === "skip" ? "skip locked" : ""}`,
    [tableIds],
  );
  return rows.map(toTableInEnvironment);
}

/** Stores a new table; false when it is live and its name is taken. */
export async function insertTable(tx: Queryable, table: Table): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into catalog_table (table_id, tenant, environment_id, namespace, name, kind, state, owner,
       description, columns, bucket, key_prefix, change_version, retention_version, project_asset,
       created_at, last_changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     on conflict (environment_id, namespace, name) where state = 'live' do nothing`,
    [
      table.tableId,
      table.tenant,
      table.environmentId,
      table.namespace,
      table.name,
      table.kind,
      table.state,
      table.owner,
      table.description,
      JSON.stringify(table.columns),
      table.location?.bucket ?? null,
      table.location?.keyPrefix ?? null,
      table.changeVersion,
      table.retentionVersion,
      table.projectAsset,
      table.createdAt,
      table.lastChangedAt,
    ],
  );
  return rowCount === 1;
}

/**
 * Writes what can change of a table whose row this transaction has locked for update; `table` is one version ahead
 * of it. False when its name, new or live at last, is taken: the transaction can then only roll back.
 */
export async function saveTable(tx: Queryable, table: Table): Promise<boolean> {
  const { contents, drop } = table;
  try {
    const { rows } = await tx.query(
      `update catalog_table set namespace = $2, name = $3, state = $4, description = $5, columns = $6,
         change_version = $7, retention_version = $8, project_asset = $9, snapshot_id = $10,
         snapshot_sequence = $11, row_count = $12, byte_size = $13, file_count = $14, last_changed_at = $15,
         restored_at = $16, dropped_at = $17, dropped_by = $18, drop_reason = $19, undo_until = $20,
         purged_at = $21
       where table_id = $1 and change_version = $7 - 1 returning table_id`,
      [
        table.tableId,
        table.namespace,
        table.name,
        table.state,
        table.description,
        JSON.stringify(table.columns),
        table.changeVersion,
        table.retentionVersion,
        table.projectAsset,
        contents.snapshotId,
        contents.snapshotSequence,
        contents.rowCount,
        contents.byteSize,
        contents.fileCount,
        table.lastChangedAt,
        table.restoredAt,
        drop?.at ?? null,
        drop?.by ?? null,
        drop?.reason ?? null,
        drop?.undoUntil ?? null,
        table.purgedAt,
      ],
    );
    exactlyOne(rows, `saving table ${table.tableId}`);
    return true;
  } catch (error) {
    if (violatedConstraint(error) === "catalog_table_live_name") return false;
    throw error;
  }
}

/** Writes tables that {@link lockTables} gave and that were dropped since, each one version ahead of its row. */
export async function saveDrops(tx: Queryable, tables: readonly Table[]): Promise<void> {
  const { rowCount } = await tx.query(
    `update catalog_table t set state = 'dropped', change_version = d.change_version, dropped_at = d.at,
       dropped_by = d.by, drop_reason = d.reason, undo_until = d.undo_until
     from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::timestamptz[])
       as d (table_id, change_version, at, by, reason, undo_until)
     where t.table_id = d.table_id and t.state = 'live' and t.change_version = d.change_version - 1`,
    [
      tables.map(({ tableId }) => tableId),
      tables.map(({ changeVersion }) => changeVersion),
      tables.map(({ drop }) => drop?.at),
      tables.map(({ drop }) => drop?.by),
      tables.map(({ drop }) => drop?.reason),
      tables.map(({ drop }) => drop?.undoUntil),
    ],
  );
  if (rowCount !== tables.length)
    throw new Error(`dropped ${rowCount} tables, not ${tables.length}`);
}

/** Writes tables that {@link lockTables} gave and whose `projectAsset` flipped since, each one version ahead of its row. */
export async function saveAssetFlips(tx: Queryable, tables: readonly Table[]): Promise<void> {
  const { rowCount } = await tx.query(
    `update catalog_table t set project_asset = f.project_asset, change_version = f.change_version
     from unnest($1::uuid[], $2::bigint[], $3::boolean[]) as f (table_id, change_version, project_asset)
     where t.table_id = f.table_id and t.state = 'live' and t.change_version = f.change_version - 1`,
    [
      tables.map(({ tableId }) => tableId),
      tables.map(({ changeVersion }) => changeVersion),
      tables.map(({ projectAsset }) => projectAsset),
    ],
  );
  if (rowCount !== tables.length)
    throw new Error(`flipped ${rowCount} tables, not ${tables.length}`);
}

const first = ({ rows: [row] }: { rows: TableRow[] }): TableInEnvironment | undefined =>
  row && toTableInEnvironment(row);
