import { createLogger, createPool, type Pool, type PoolSettings } from "@lapse/kit";
import { type Migrations, testDatabase } from "@lapse/test-kit";

export const silent = createLogger({ service: "test", level: "silent" });

/** A database for one test file, empty unless migrated, with a pool. */
export async function openDatabase({
  name,
  migrations = async () => {},
  ...settings
}: { name: string; migrations?: Migrations } & Partial<PoolSettings>) {
  const { url, drop } = await testDatabase({ name, migrations });
  const pool = createPool({ url, applicationName: name, log: silent, ...settings });
  return {
    url,
    pool,
    async close() {
      await pool.end();
      await drop();
    },
  };
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** Ends every other connection of this database, as a restart of the server does. */
export async function endConnections(pool: Pool): Promise<void> {
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );
}
