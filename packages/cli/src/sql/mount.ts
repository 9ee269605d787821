import type { DuckDBConnection } from "@duckdb/node-api";
import type { LapseClient, Table, TableFiles } from "@lapse/sdk";
import { UsageError } from "../exit.ts";
import { explaining } from "./engine.ts";
import { quoteName } from "./identifiers.ts";
import { type TableName, tablesNamedIn } from "./named-tables.ts";
import { isPoliced, sourceOf } from "./source.ts";

/** A table that a query reads. */
export type Mounted = {
  readonly table: Table;
  /** Whether the reader sees less of it than there is. */
  readonly policed: boolean;
};

/** Makes the tables that a query names visible to the engine, as views over their files, and returns them. */
export async function mountTables(
  engine: DuckDBConnection,
  client: LapseClient,
  environment: string,
  sql: string,
): Promise<Mounted[]> {
  const mounted: Mounted[] = [];
  for (const parts of await tablesNamedIn(engine, sql)) {
    // One part is a file or something of the query's own; the engine finds that, or says that it is not there.
    if (parts.length === 1 || isBuiltIn(parts)) continue;
    const files = await client.tables.files(environment, parts.join("."), {
      appliesPolicies: true,
    });
    await mount(engine, parts, files);
    mounted.push({ table: files.table, policed: isPoliced(files) });
  }
  if (mounted.some(({ policed }) => policed)) await keepFiltersFirst(engine);
  return mounted;
}

async function mount(engine: DuckDBConnection, parts: TableName, files: TableFiles): Promise<void> {
  const { table } = files;
  if (table.kind !== "managed") {
    throw new UsageError(
      `${table.full_name} is of kind ${table.kind}; lapse sql reads managed tables only.`,
    );
  }
  const source = await sourceOf(engine, files);
  const [database, schema] = parts.length === 3 ? [parts[0], parts[1]] : [undefined, parts[0]];
  const prefix = database === undefined ? "" : `${quoteName(database)}.`;
  await explaining(async () => {
    if (database !== undefined) {
      await engine.run(`ATTACH IF NOT EXISTS ':memory:' AS ${quoteName(database)}`);
    }
    const inSchema = `${prefix}${quoteName(schema ?? "")}`;
    await engine.run(`CREATE SCHEMA IF NOT EXISTS ${inSchema}`);
    const view = `${inSchema}.${quoteName(parts.at(-1) ?? "")}`;
    await engine.run(`CREATE OR REPLACE VIEW ${view} AS ${source}`);
  });
}

/**
 * A condition of the query is tried on no row that a filter hides: moved below the filter it could tell of one by
 * failing on it.
 */
async function keepFiltersFirst(engine: DuckDBConnection): Promise<void> {
  await engine.run("SET disabled_optimizers = 'filter_pullup,filter_pushdown'");
}

/** The engine's own description of itself is read as it is. */
function isBuiltIn(parts: TableName): boolean {
  return ["information_schema", "pg_catalog"].includes(parts.at(-2)?.toLowerCase() ?? "");
}
