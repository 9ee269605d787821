import type { DuckDBConnection } from "@duckdb/node-api";
import type { Column, LapseClient, Table, TableFiles } from "@lapse/sdk";
import { FailedError, UsageError } from "../exit.ts";
import { explaining } from "./engine.ts";
import { quoteName, quoteText, splitName } from "./identifiers.ts";

/** Makes the tables that a query names visible to the engine, as views over their files, and returns them. */
export async function mountTables(
  engine: DuckDBConnection,
  client: LapseClient,
  environment: string,
  sql: string,
): Promise<Table[]> {
  const named = await explaining(async () => engine.getTableNames(sql, true));
  const mounted: Table[] = [];
  for (const text of named) {
    const parts = splitName(text);
    // One part is a file or something of the engine's own; it finds that, or says that it is not there.
    if (parts.length === 1) continue;
    if (parts.length > 3) throw tooDeep(text);
    if (isBuiltIn(parts)) continue;
    const files = await client.tables.files(environment, parts.join("."));
    await mount(engine, parts, files);
    mounted.push(files.table);
  }
  return mounted;
}

async function mount(
  engine: DuckDBConnection,
  parts: readonly string[],
  files: TableFiles,
): Promise<void> {
  const { table } = files;
  if (table.kind !== "managed") {
    throw new UsageError(
      `${table.full_name} is of kind ${table.kind}; lapse sql reads managed tables only.`,
    );
  }
  const [database, schema] = parts.length === 3 ? [parts[0], parts[1]] : [undefined, parts[0]];
  const prefix = database === undefined ? "" : `${quoteName(database)}.`;
  await explaining(async () => {
    if (database !== undefined) {
      await engine.run(`ATTACH IF NOT EXISTS ':memory:' AS ${quoteName(database)}`);
    }
    const inSchema = `${prefix}${quoteName(schema ?? "")}`;
    await engine.run(`CREATE SCHEMA IF NOT EXISTS ${inSchema}`);
    const view = `${inSchema}.${quoteName(parts.at(-1) ?? "")}`;
    await engine.run(`CREATE OR REPLACE VIEW ${view} AS ${sourceOf(files)}`);
  });
}

function sourceOf({ files, table }: TableFiles): string {
  if (files.length === 0) return emptySource(table);
  const list = files.map((file) => quoteText(localPath(file.uri))).join(", ");
  return `SELECT * FROM read_parquet([${list}], union_by_name = true)`;
}

function emptySource(table: Table): string {
  if (table.columns.length === 0) {
    throw new FailedError(`${table.full_name} has no columns yet: write to it first.`);
  }
  const columns = table.columns.map(
    (column) => `NULL::${typeText(column)} AS ${quoteName(column.name)}`,
  );
  return `SELECT ${columns.join(", ")} WHERE false`;
}

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

/** The engine's own description of itself is read as it is. */
function isBuiltIn(parts: readonly string[]): boolean {
  return ["information_schema", "pg_catalog"].includes(parts.at(-2)?.toLowerCase() ?? "");
}

function tooDeep(name: string): UsageError {
  return new UsageError(
    `${name} has more parts than a query can name. Quote the namespace: "a.b.c".table.`,
  );
}
