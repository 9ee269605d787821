import type { Queryable, TableGrant } from "@lapse/kit";
import type { ColumnMask, Mask } from "../domain/column-mask.ts";
import type { Policies } from "../domain/policies.ts";
import type { Operator, RowFilter } from "../domain/row-filter.ts";
import type { Table } from "../domain/table.ts";

/** A right that somebody was given on one table. */
export interface Grant {
  readonly subject: string;
  readonly right: TableGrant;
  readonly grantedBy: string;
  readonly grantedAt: Date;
}

/** Everything that is set on a table. */
export interface TableAccess extends Policies {
  readonly grants: readonly Grant[];
}

/** What is set on a table, whatever its state, in the order of subject, name and column. */
export async function tableAccess(db: Queryable, tableId: string): Promise<TableAccess> {
  const { rows } = await db.query<{
    subject: string;
    right: TableGrant;
    granted_by: string;
    granted_at: Date;
  }>(
    `select subject, "right", granted_by, granted_at from table_grant
     where table_id = $1 order by subject, "right"`,
    [tableId],
  );
  const grants = rows.map((row) => ({
    subject: row.subject,
    right: row.right,
    grantedBy: row.granted_by,
    grantedAt: row.granted_at,
  }));
  return { grants, ...(await tablePolicies(db, tableId)) };
}

/** The row filters and column masks of a table. */
export async function tablePolicies(db: Queryable, tableId: string): Promise<Policies> {
  const { rows: filters } = await db.query<FilterRow>(
    `select name, applies_to, column_name, operator, operands, set_by, set_at from row_filter
     where table_id = $1 order by name`,
    [tableId],
  );
  const { rows: masks } = await db.query<MaskRow>(
    `select column_name, applies_to, mask, set_by, set_at from column_mask
     where table_id = $1 order by column_name, applies_to`,
    [tableId],
  );
  return { filters: filters.map(toFilter), masks: masks.map(toMask) };
}

interface FilterRow {
  readonly name: string;
  readonly applies_to: string;
  readonly column_name: string;
  readonly operator: Operator;
  readonly operands: readonly string[];
  readonly set_by: string;
  readonly set_at: Date;
}

interface MaskRow {
  readonly column_name: string;
  readonly applies_to: string;
  readonly mask: Mask;
  readonly set_by: string;
  readonly set_at: Date;
}

const toFilter = (row: FilterRow): RowFilter => ({
  name: row.name,
  appliesTo: row.applies_to,
  column: row.column_name,
  operator: row.operator,
  values: row.operands,
  setBy: row.set_by,
  setAt: row.set_at,
});

const toMask = (row: MaskRow): ColumnMask => ({
  column: row.column_name,
  appliesTo: row.applies_to,
  mask: row.mask,
  setBy: row.set_by,
  setAt: row.set_at,
});

/** Gives a right on a table whose row is locked; false when the subject had it. */
export async function insertGrant(
  tx: Queryable,
  { tableId, tenant, environmentId }: Pick<Table, "tableId" | "tenant" | "environmentId">,
  { subject, right, grantedBy, grantedAt }: Grant,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into table_grant (table_id, subject, "right", tenant, environment_id, granted_by, granted_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [tableId, subject, right, tenant, environmentId, grantedBy, grantedAt],
  );
  return rowCount === 1;
}

/** Takes a right back; false when the subject did not have it. */
export async function deleteGrant(
  tx: Queryable,
  tableId: string,
  { subject, right }: Pick<Grant, "subject" | "right">,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `delete from table_grant where table_id = $1 and subject = $2 and "right" = $3`,
    [tableId, subject, right],
  );
  return rowCount === 1;
}

/** Sets the filter of that name, in place of the one before. */
export async function saveFilter(tx: Queryable, tableId: string, filter: RowFilter): Promise<void> {
  await tx.query(
    `insert into row_filter (table_id, name, applies_to, column_name, operator, operands, set_by, set_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (table_id, name) do update set applies_to = excluded.applies_to,
       column_name = excluded.column_name, operator = excluded.operator, operands = excluded.operands,
       set_by = excluded.set_by, set_at = excluded.set_at`,
    [
      tableId,
      filter.name,
      filter.appliesTo,
      filter.column,
      filter.operator,
      filter.values,
      filter.setBy,
      filter.setAt,
    ],
  );
}

/** Removes the filter of that name; false when there was none. */
export async function deleteFilter(tx: Queryable, tableId: string, name: string): Promise<boolean> {
  const { rowCount } = await tx.query("delete from row_filter where table_id = $1 and name = $2", [
    tableId,
    name,
  ]);
  return rowCount === 1;
}

/** Sets the mask of that column for whom it applies to, in place of the one before. */
export async function saveMask(tx: Queryable, tableId: string, mask: ColumnMask): Promise<void> {
  await tx.query(
    `insert into column_mask (table_id, column_name, applies_to, mask, set_by, set_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (table_id, column_name, applies_to) do update set mask = excluded.mask,
       set_by = excluded.set_by, set_at = excluded.set_at`,
    [tableId, mask.column, mask.appliesTo, mask.mask, mask.setBy, mask.setAt],
  );
}

/** Removes the mask of that column for whom it applies to; false when there was none. */
export async function deleteMask(
  tx: Queryable,
  tableId: string,
  { column, appliesTo }: Pick<ColumnMask, "column" | "appliesTo">,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    "delete from column_mask where table_id = $1 and column_name = $2 and applies_to = $3",
    [tableId, column, appliesTo],
  );
  return rowCount === 1;
}

/** Forgets all that was set on a table, with its purge. */
export async function deleteTableAccess(tx: Queryable, tableId: string): Promise<void> {
  for (const table of ["table_grant", "row_filter", "column_mask"]) {
    await tx.query(`delete from ${table} where table_id = $1`, [tableId]);
  }
}
