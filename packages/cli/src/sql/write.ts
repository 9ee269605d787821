import { randomUUID } from "node:crypto";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { type Column, LapseApiError, type LapseClient, type Table } from "@lapse/sdk";
import { FailedError, RefusedError, UsageError } from "../exit.ts";
import { explaining } from "./engine.ts";
import { withHold } from "./hold.ts";
import { quoteName, quoteText } from "./identifiers.ts";
import type { Mounted } from "./mount.ts";
import { localPath, typeText } from "./source.ts";

export type WriteMode = "create" | "append" | "replace";

export type Write = {
  readonly sql: string;
  readonly environment: string;
  /** Dotted table name. */
  readonly into: string;
  readonly mode: WriteMode;
  readonly expireAfterDays?: number;
  /** What the query reads. */
  readonly read: readonly Mounted[];
};

export type Written = { readonly table: Table; readonly rows: number };

/**
 * Writes the rows of a query as one Parquet file under the table's location and commits it. Nothing is visible
 * before the commit, and a write that fails leaves nothing behind.
 */
export async function writeQuery(
  engine: DuckDBConnection,
  client: LapseClient,
  write: Write,
): Promise<Written> {
  const columns = await resultColumns(engine, write.sql);
  if (write.mode === "create") return createTable(engine, client, write, columns);
  const table = await client.tables.get(write.environment, write.into);
  if (write.mode === "replace") refuseLoss(table, write.read);
  const query =
    write.mode === "append" && table.columns.length > 0
      ? shapedQuery(write.sql, columns, table)
      : write.sql;
  return withHold(client, table.id, (holdId) =>
    writeAndCommit(engine, client, table, query, {
      operation: write.mode === "append" ? "append" : "replace",
      hold_id: holdId,
      ...(write.mode === "replace" || table.columns.length === 0 ? { columns } : {}),
    }),
  );
}

/** Written back over the table, what its reader does not see would be lost, and what is masked stay masked. */
function refuseLoss(table: Table, read: readonly Mounted[]): void {
  if (!read.some((one) => one.policed && one.table.id === table.id)) return;
  throw new RefusedError(
    `You do not see all of ${table.full_name}: row filters or column masks apply to you, so to replace it by what you see would lose the rest. Write to another table, or ask ${table.owner}, its owner.`,
  );
}

async function createTable(
  engine: DuckDBConnection,
  client: LapseClient,
  write: Write,
  columns: readonly Column[],
): Promise<Written> {
  await refuseTaken(client, write);
  const staged = await client.tables.create(write.environment, write.into, {
    columns,
    staged: true,
    ...(write.expireAfterDays === undefined ? {} : { expireAfterDays: write.expireAfterDays }),
  });
  return writeAndCommit(engine, client, staged, write.sql, { operation: "append" });
}

/** The commit refuses a taken name too; asked first, the query is not run for nothing. */
async function refuseTaken(client: LapseClient, { environment, into }: Write): Promise<void> {
  try {
    await client.tables.get(environment, into);
  } catch (error) {
    if (error instanceof LapseApiError && error.notFound) return;
    throw error;
  }
  throw new LapseApiError(409, {
    code: "NAME_TAKEN",
    detail: `${into} exists in ${environment} already: use --mode append or --mode replace, or another name.`,
  });
}

async function writeAndCommit(
  engine: DuckDBConnection,
  client: LapseClient,
  table: Table,
  query: string,
  commit: {
    readonly operation: "append" | "replace";
    readonly hold_id?: string;
    readonly columns?: readonly Column[];
  },
): Promise<Written> {
  const path = `data/${randomUUID()}.parquet`;
  const file = join(localPath(table.location), path);
  try {
    const rows = await copyToParquet(engine, query, file);
    const { size } = await stat(file);
    const committed = await client.tables.byId(table.id).commit({
      ...commit,
      files: [{ path, byte_size: size, row_count: rows }],
    });
    return { table: committed, rows };
  } catch (error) {
    // Only an answer says that the file is in no snapshot; without one, the commit may have happened.
    if (error instanceof FailedError || isRefusal(error)) await rm(file, { force: true });
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof LapseApiError && error.status < 500;
}

async function copyToParquet(
  engine: DuckDBConnection,
  query: string,
  file: string,
): Promise<number> {
  await mkdir(join(file, ".."), { recursive: true });
  return explaining(async () => {
    const result = await engine.run(
      `COPY (${query}\n) TO ${quoteText(file)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    return result.rowsChanged;
  });
}

async function resultColumns(engine: DuckDBConnection, sql: string): Promise<Column[]> {
  const described = await explaining(() => engine.runAndReadAll(`DESCRIBE ${sql}`));
  const columns = described.getRowObjectsJson().map((row) => ({
    name: String(row.column_name),
    type: String(row.column_type),
    required: false,
  }));
  const twice = columns.find((one, at) => columns.findIndex((two) => two.name === one.name) !== at);
  if (twice) {
    throw new UsageError(`Two columns of the query are named ${twice.name}: rename one with AS.`);
  }
  return columns;
}

/** The query's columns by name, in the table's order and types, so that every file of a table reads alike. */
function shapedQuery(sql: string, columns: readonly Column[], table: Table): string {
  const wanted = table.columns.map((column) => column.name);
  const given = columns.map((column) => column.name);
  const missing = wanted.filter((name) => !given.includes(name));
  const extra = given.filter((name) => !wanted.includes(name));
  if (missing.length > 0 || extra.length > 0) {
    const parts = [
      missing.length > 0 ? `it lacks ${missing.join(", ")}` : "",
      extra.length > 0 ? `the table has no ${extra.join(", ")}` : "",
    ].filter(Boolean);
    throw new UsageError(
      `The query does not fit ${table.full_name}: ${parts.join("; ")}. Use AS to rename, or --mode replace.`,
    );
  }
  const shaped = table.columns.map(
    (column) => `${quoteName(column.name)}::${typeText(column)} AS ${quoteName(column.name)}`,
  );
  return `SELECT ${shaped.join(", ")} FROM (${sql}\n)`;
}
