import { type DuckDBConnection, DuckDBInstance, StatementType } from "@duckdb/node-api";
import { FailedError, UsageError } from "../exit.ts";

/** A private in-memory DuckDB; nothing is downloaded by it. */
export async function withEngine<T>(work: (engine: DuckDBConnection) => Promise<T>): Promise<T> {
  const instance = await DuckDBInstance.create(":memory:", {
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
  });
  const engine = await instance.connect();
  try {
    // What a query means must not depend on where it is run from.
    await engine.run("SET TimeZone = 'UTC'");
    return await work(engine);
  } finally {
    engine.closeSync();
    instance.closeSync();
  }
}

/** Refuses what is not exactly one query: other statements would act on nothing that lasts. */
export async function requireQuery(engine: DuckDBConnection, sql: string): Promise<void> {
  const statements = await explaining(() => engine.extractStatements(sql));
  if (statements.count !== 1) {
    throw new UsageError(`Give one query; here are ${statements.count} statements.`);
  }
}

/** Refuses a statement that is not a query, once its tables are known to the engine. */
export async function requireReadOnly(engine: DuckDBConnection, sql: string): Promise<void> {
  const prepared = await explaining(() => engine.prepare(sql));
  const { statementType } = prepared;
  prepared.destroySync();
  if (statementType === StatementType.SELECT || statementType === StatementType.EXPLAIN) return;
  throw noQuery();
}

/** What `lapse sql` does not run. */
export const noQuery = (): UsageError =>
  new UsageError(
    "lapse sql runs queries. To write, give the query whose rows to write and where: --into bronze.trial --mode append. (A PIVOT needs its values: ON column IN (…).)",
  );

/** Runs engine work; what it throws becomes a failure that keeps DuckDB's own explanation. */
export async function explaining<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsageError || error instanceof FailedError) throw error;
    throw new FailedError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
