import type { Environment } from "../domain/environment.ts";
import type { Column, DropReason, Table, TableKind, TableState } from "../domain/table.ts";
import { ENVIRONMENT_COLUMNS, type EnvironmentRow, toEnvironment } from "./environment-row.ts";

/** The columns of `catalog_table t` and of its `environment e`. */
export const TABLE_COLUMNS = `
  t.table_id, t.tenant, t.environment_id, t.namespace, t.name, t.kind, t.state, t.owner, t.description,
  t.columns, t.bucket, t.key_prefix, t.change_version, t.retention_version, t.project_asset,
  t.snapshot_id, t.snapshot_sequence, t.row_count, t.byte_size, t.file_count,
  t.created_at, t.last_changed_at, t.restored_at, t.dropped_at, t.dropped_by, t.drop_reason, t.undo_until,
  t.purged_at,
  case when t.project_asset then (
    select d.project || ' ' || d.version
    from deployed_asset a join project_deployment d using (environment_id, project)
    where a.environment_id = t.environment_id and a.namespace = t.namespace and a.name = t.name
    order by d.project limit 1
  ) end as asset_of, ${ENVIRONMENT_COLUMNS}`;

export const TABLE_SOURCE = "catalog_table t join environment e using (environment_id)";

/** A table with the environment it is in, as both are now. */
export interface TableInEnvironment {
  readonly table: Table;
  readonly environment: Environment;
}

/** A row of {@link TABLE_COLUMNS}. */
export interface TableRow extends EnvironmentRow {
  readonly table_id: string;
  readonly tenant: string;
  readonly environment_id: string;
  readonly namespace: string;
  readonly name: string;
  readonly kind: TableKind;
  readonly state: TableState;
  readonly owner: string;
  readonly description: string;
  readonly columns: readonly Column[];
  readonly bucket: string | null;
  readonly key_prefix: string | null;
  readonly change_version: bigint;
  readonly retention_version: bigint;
  readonly project_asset: boolean;
  readonly asset_of: string | null;
  readonly snapshot_id: string | null;
  readonly snapshot_sequence: bigint;
  readonly row_count: bigint;
  readonly byte_size: bigint;
  readonly file_count: number;
  readonly created_at: Date;
  readonly last_changed_at: Date;
  readonly restored_at: Date | null;
  readonly dropped_at: Date | null;
  readonly dropped_by: string | null;
  readonly drop_reason: DropReason | null;
  readonly undo_until: Date | null;
  readonly purged_at: Date | null;
}

export const toTableInEnvironment = (row: TableRow): TableInEnvironment => ({
  table: toTable(row),
  environment: toEnvironment(row),
});

function toTable(row: TableRow): Table {
  return {
    tableId: row.table_id,
    tenant: row.tenant,
    environmentId: row.environment_id,
    namespace: row.namespace,
    name: row.name,
    kind: row.kind,
    state: row.state,
    owner: row.owner,
    description: row.description,
    columns: row.columns,
    location:
      row.bucket !== null && row.key_prefix !== null
        ? { bucket: row.bucket, keyPrefix: row.key_prefix }
        : null,
    changeVersion: row.change_version,
    retentionVersion: row.retention_version,
    projectAsset: row.project_asset,
    assetOf: row.asset_of ?? "",
    contents: {
      snapshotId: row.snapshot_id,
      snapshotSequence: row.snapshot_sequence,
      rowCount: row.row_count,
      byteSize: row.byte_size,
      fileCount: row.file_count,
    },
    createdAt: row.created_at,
    lastChangedAt: row.last_changed_at,
    restoredAt: row.restored_at,
    drop: toDrop(row),
    purgedAt: row.purged_at,
  };
}

function toDrop(row: TableRow): Table["drop"] {
  if (row.dropped_at === null || row.drop_reason === null || row.undo_until === null) return null;
  return {
    at: row.dropped_at,
    by: row.dropped_by,
    reason: row.drop_reason,
    undoUntil: row.undo_until,
  };
}
