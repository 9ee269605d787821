import type { Queryable } from "@lapse/kit";
import type { TableRetention } from "@lapse/rules";
import type { Versioned } from "../domain/version.ts";

/** Whose retention a row is. A table never moves to another tenant or environment. */
export interface TableKey {
  readonly tableId: string;
  readonly tenant: string;
  readonly environmentId: string;
}

/** A table's own rule (or explicitly none) as stored. */
export interface StoredTableRetention extends TableKey, Versioned<TableRetention> {}

interface Row {
  table_id: string;
  tenant: string;
  environment_id: string;
  rule_kind: string | null;
  days: number | null;
  on_date: string | null;
  set_by: string | null;
  set_at: Date | null;
  retention_version: bigint;
}

const COLUMNS =
  "table_id, tenant, environment_id, rule_kind, days, on_date, set_by, set_at, retention_version";

/** What is stored for the table; null: nothing ever was, or it has been forgotten. */
export async function findTableRetention(
  db: Queryable,
  tableId: string,
): Promise<StoredTableRetention | null> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from table_retention where table_id = $1`,
    [tableId],
  );
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

/** Locks what is stored for the table until the transaction ends. Where nothing is: no rule, at version 0. */
export async function lockTableRetention(
  tx: Queryable,
  key: TableKey,
): Promise<StoredTableRetention> {
  // The row comes first, so that there is one to lock: two first changes of a table wait for each other.
  await tx.query(
    `insert into table_retention (table_id, tenant, environment_id, retention_version)
     values ($1, $2, $3, 0)
     on conflict (table_id) do nothing`,
    [key.tableId, key.tenant, key.environmentId],
  );
  const { rows } = await tx.query<Row>(
    `select ${COLUMNS} from table_retention where table_id = $1 for update`,
    [key.tableId],
  );
  const [row] = rows;
  if (row === undefined) {
    // Forgotten between the two statements; the next attempt inserts it again.
    return lockTableRetention(tx, key);
  }
  return fromRow(row);
}

/** Stores a rule (or none) and its version over the row that {@link lockTableRetention} locked. */
export async function storeTableRetention(
  tx: Queryable,
  tableId: string,
  { rule, version }: Versioned<TableRetention>,
): Promise<void> {
  await tx.query(
    `update table_retention
     set rule_kind = $2, days = $3, on_date = $4, set_by = $5, set_at = $6, retention_version = $7
     where table_id = $1`,
    [
      tableId,
      rule?.kind ?? null,
      rule?.kind === "days" ? rule.days : null,
      rule?.kind === "on" ? rule.on : null,
      rule?.setBy ?? null,
      rule?.setAt ?? null,
      version,
    ],
  );
}

/** Forgets the table; returns what was stored, null where nothing was. */
export async function deleteTableRetention(
  tx: Queryable,
  tableId: string,
): Promise<StoredTableRetention | null> {
  const { rows } = await tx.query<Row>(
    `delete from table_retention where table_id = $1 returning ${COLUMNS}`,
    [tableId],
  );
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

function fromRow(row: Row): StoredTableRetention {
  return {
    tableId: row.table_id,
    tenant: row.tenant,
    environmentId: row.environment_id,
    rule: ruleOf(row),
    version: row.retention_version,
  };
}

function ruleOf(row: Row): TableRetention | null {
  const { rule_kind: kind, days, on_date: on, set_by: setBy, set_at: setAt } = row;
  if (kind === null) {
    return null;
  }
  if (setBy !== null && setAt !== null) {
    if (kind === "days" && days !== null) {
      return { kind, days, setBy, setAt };
    }
    if (kind === "on" && on !== null) {
      return { kind, on, setBy, setAt };
    }
    if (kind === "never") {
      return { kind, setBy, setAt };
    }
  }
  throw new Error(`the stored retention of table ${row.table_id} is not one rule`);
}
