import type { DuckDBConnection } from "@duckdb/node-api";
import { FailedError, UsageError } from "../exit.ts";
import { explaining, noQuery } from "./engine.ts";

/** A table as a query names it: its parts, without quotes, from the outermost to its own name. */
export type TableName = readonly string[];

/** What the engine makes of a query's text before it looks anything up. */
type Parsed = { readonly error?: boolean; readonly error_message?: string };

const EXPLAIN = /^\s*explain\s+(analyze\s+)?(\([^()]*\)\s*)?/i;

/**
 * The tables that a query names, wherever in it, each once. They are read off the parsed query, before anything is
 * looked up, so that an alias, a join or a name in quotes is what the engine takes it for.
 *
 * @throws {UsageError} where the text is no query; {@link FailedError} with the engine's explanation where it cannot
 *   be parsed.
 */
export async function tablesNamedIn(engine: DuckDBConnection, sql: string): Promise<TableName[]> {
  const parsed = await parse(engine, sql.replace(EXPLAIN, ""));
  const names = new Map<string, TableName>();
  for (const name of namesIn(parsed)) names.set(JSON.stringify(name), name);
  return [...names.values()];
}

async function parse(engine: DuckDBConnection, sql: string): Promise<Parsed> {
  const answer = await explaining(() =>
    engine.runAndReadAll("SELECT json_serialize_sql($1::VARCHAR) AS parsed", [sql]),
  );
  const parsed = JSON.parse(String(answer.getRowObjectsJson()[0]?.parsed)) as Parsed;
  if (!parsed.error) return parsed;
  const why = parsed.error_message ?? "";
  if (why.startsWith("Only SELECT")) throw noQuery();
  // The engine cannot write down a name of more than three parts.
  if (why.startsWith("NameListToString")) throw tooDeep();
  throw new FailedError(why);
}

function* namesIn(node: unknown): Generator<TableName> {
  if (typeof node !== "object" || node === null) return;
  if ("type" in node && node.type === "BASE_TABLE") {
    const { catalog_name = "", schema_name = "", table_name = "" } = node as Record<string, string>;
    yield [catalog_name, schema_name, table_name].filter((part) => part !== "");
  }
  for (const child of Object.values(node)) yield* namesIn(child);
}

const tooDeep = (): UsageError =>
  new UsageError(
    'A name in the query has more parts than a query can hold. Quote the namespace: "a.b.c".table.',
  );
