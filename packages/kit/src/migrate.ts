import { readdir } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import Postgrator from "postgrator";
import { precondition } from "./errors.ts";
import type { Logger } from "./log.ts";
import { type Pool, poolConfig } from "./postgres.ts";

/** The database: by its pool or by its URL. */
export type MigrateOptions = ({ readonly pool: Pool } | { readonly url: string }) & {
  /** Folder of `NNNN.do.<description>.sql`, numbered from 1 without a gap. */
  readonly directory: string;
  readonly log: Logger;
};

/** The kit's own tables: outbox, inbox, lease, idempotency, clock watch. */
const KIT_DIRECTORY = join(import.meta.dirname, "..", "migrations");
const FILE = /^(\d{4})\.do\.[a-z0-9-]+\.sql$/;
/** "laps" in ASCII; any number will do that nobody else locks in this database. */
const LOCK = 0x6c617073;

/**
 * Brings the database to the newest schema of the kit and of the service, in one transaction and one
 * starter at a time: all of it is applied or none. An applied file is never edited: a changed one is
 * refused, and so is a database that a newer release has migrated.
 */
export async function migrate({ directory, log, ...database }: MigrateOptions): Promise<void> {
  const config =
    "pool" in database
      ? database.pool.options
      : poolConfig({ url: database.url, applicationName: "lapse-migrate" });
  // A connection of its own: building an index may take longer than a statement of the pool may.
  const client = new pg.Client({ ...config, query_timeout: 0 });
  client.on("error", (error) => log.warn({ err: error }, "the migrating connection was lost"));
  await client.connect();
  try {
    await client.query("begin");
    await client.query("set local statement_timeout = 0");
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    await applyFolder(client, KIT_DIRECTORY, "kit_schema_version", log);
    await applyFolder(client, directory, "schema_version", log);
    await client.query("commit");
  } finally {
    // Without a commit before it, ending the connection rolls back.
    await client.end();
  }
}

async function applyFolder(
  client: pg.Client,
  directory: string,
  versionTable: string,
  log: Logger,
): Promise<void> {
  const newest = await checkNames(directory);
  const transaction = await transactionId(client);
  const postgrator = new Postgrator({
    driver: "pg",
    migrationPattern: join(literally(directory), "*.do.*.sql"),
    schemaTable: versionTable,
    execQuery: (sql) => client.query(sql),
    execSqlScript: async (sql) => {
      await client.query(sql);
      if ((await transactionId(client)) === transaction) return;
      throw new Error("a migration must not end the transaction it runs in");
    },
  });
  const applied = await postgrator.getDatabaseVersion();
  if (applied > newest) {
    throw precondition(
      "SCHEMA_NEWER",
      `the database is at version ${applied} of ${versionTable}, this release knows ${newest}: start a release at least as new as the one that migrated it`,
    );
  }
  let current = "";
  const note = ({ filename }: { filename: string }) => {
    current = filename;
  };
  postgrator.on("validation-started", note);
  postgrator.on("migration-started", note);
  const files = await postgrator.migrate().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    throw precondition("MIGRATION_FAILED", `${current || directory}: ${message}`, { cause: error });
  });
  if ((await postgrator.getDatabaseVersion()) !== newest) {
    throw precondition("MIGRATION_FAILED", `${directory}: not every file could be read`);
  }
  for (const { filename } of files) log.info({ file: filename }, "schema migrated");
}

async function transactionId(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>("select pg_current_xact_id()::text as id");
  return rows[0]?.id ?? "";
}

/** A path as a pattern that matches nothing but itself. */
const literally = (path: string): string => path.replace(/[\\*?[\]{}()!+@]/g, "\\$&");

/** The newest version in the folder. A gap or a stray name would be skipped in silence otherwise. */
async function checkNames(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  names.forEach((name, index) => {
    if (Number(FILE.exec(name)?.[1]) === index + 1) return;
    const expected = `${String(index + 1).padStart(4, "0")}.do.<description>.sql`;
    throw precondition("MIGRATION_MISNAMED", `${join(directory, name)}: expected ${expected}`);
  });
  return names.length;
}
