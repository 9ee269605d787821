import type { DuckDBConnection } from "@duckdb/node-api";
import type { Column, Table, TableFiles } from "@lapse/sdk";
import { FailedError } from "../exit.ts";
import { explaining } from "./engine.ts";
import { filterExpression } from "./filter.ts";
import { quoteName, quoteText } from "./identifiers.ts";
import { maskExpression, strictest } from "./mask.ts";

/**
 * The query that a table's view is made of: its files, or no row of its columns. Where row filters or column masks
 * apply, it gives the rows for which every filter holds, and of them the catalog's columns alone, masked ones in the
 * form of their mask. A policy that cannot be applied is a refusal and never passed over.
 */
export async function sourceOf(engine: DuckDBConnection, files: TableFiles): Promise<string> {
  const stored = storedRows(files);
  if (!isPoliced(files)) return stored;
  const typed = await describe(engine, stored);
  const columns = visibleColumns(files.table, typed);
  const conditions = [];
  for (const filter of files.row_filters) {
    const column = policyColumn(columns, filter.column, files.table);
    if (!column) throw inapplicable(files.table, filter.column);
    conditions.push(await filterExpression(engine, filter, column));
  }
  const masks = strictest(files.column_masks);
  for (const { column } of masks.values()) policyColumn(columns, column, files.table);
  const shown = columns.map((column) => {
    const mask = masks.get(column.name)?.mask;
    const name = quoteName(column.name);
    return mask === undefined ? name : `${maskExpression(mask, column)} AS ${name}`;
  });
  // Filters come first, and on the values as they are: an outer query cannot name anything but what is shown.
  const present = columns.map((column) => presentColumn(column, typed));
  const rows = `SELECT ${present.join(", ")} FROM (${stored})`;
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return `SELECT ${shown.join(", ")} FROM (SELECT * FROM (${rows})${where})`;
}

/** Whether a reader sees less of a table than there is. */
export const isPoliced = ({ row_filters, column_masks }: TableFiles): boolean =>
  row_filters.length > 0 || column_masks.length > 0;

function storedRows({ files, table }: TableFiles): string {
  if (files.length === 0) return emptyRows(table);
  const list = files.map((file) => quoteText(localPath(file.uri))).join(", ");
  // A path of the table is no partition of it, whatever it looks like.
  return `SELECT * FROM read_parquet([${list}], union_by_name = true, hive_partitioning = false)`;
}

function emptyRows(table: Table): string {
  if (table.columns.length === 0) {
    throw new FailedError(`${table.full_name} has no columns yet: write to it first.`);
  }
  const columns = table.columns.map(
    (column) => `NULL::${typeText(column)} AS ${quoteName(column.name)}`,
  );
  return `SELECT ${columns.join(", ")} WHERE false`;
}

/** The columns of a query with the engine's own names for their types. */
async function describe(engine: DuckDBConnection, query: string): Promise<Column[]> {
  const described = await explaining(() => engine.runAndReadAll(`DESCRIBE ${query}`));
  return described
    .getRowObjectsJson()
    .map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}

/** A file may hold columns that the table has no more: only the catalog's are shown. */
function visibleColumns(table: Table, typed: readonly Column[]): Column[] {
  if (table.columns.length === 0) return [...typed];
  return table.columns.map((column) => {
    const found = typed.find(({ name }) => name === column.name);
    return { name: column.name, type: found?.type ?? typeText(column) };
  });
}

function presentColumn(column: Column, typed: readonly Column[]): string {
  const name = quoteName(column.name);
  const stored = typed.some((one) => one.name === column.name);
  return stored ? name : `NULL::${column.type} AS ${name}`;
}

/** The engine does not tell names by their case, so one that differs in nothing else cannot be relied on. */
function policyColumn(columns: readonly Column[], name: string, table: Table): Column | null {
  const alike = columns.filter((one) => one.name.toLowerCase() === name.toLowerCase());
  const [column] = alike;
  if (!column) return null;
  if (alike.length > 1 || column.name !== name) throw inapplicable(table, name);
  return column;
}

const inapplicable = (table: Table, column: string): FailedError =>
  new FailedError(
    `A policy on column ${column} of ${table.full_name} cannot be applied to its columns as they are; ask ${table.owner}, its owner, to set it anew.`,
  );

/** A column's type comes from the catalog: only what can be a type is put into SQL. */
export function typeText({ name, type }: Column): string {
  if (/^[\w (),"[\]]+$/.test(type)) return type;
  throw new FailedError(`Column ${name} has the type "${type}", which is no SQL type.`);
}

/** The path of a `file:` address on this machine, which the store gives as it is, not percent-encoded. */
export function localPath(uri: string): string {
  if (uri.startsWith("file:///")) return uri.slice("file://".length);
  throw new FailedError(
    `The table's files are at ${uri}: lapse sql reads object stores that are a folder on this machine.`,
  );
}
