import { join } from "node:path";
import { createLogger, createPool, type Pool } from "@lapse/kit";
import { testDatabase } from "@lapse/test-kit";

/** A migrated database of the audit service for one test file. */
export interface AuditDatabase {
  readonly url: string;
  readonly pool: Pool;
  readonly drop: () => Promise<void>;
}

export const SILENT = createLogger({ service: "audit", level: "silent" });

export async function auditDatabase(name: string): Promise<AuditDatabase> {
  const migrations = join(import.meta.dirname, "..", "..", "migrations");
  const { url, drop } = await testDatabase({ migrations, name });
  const pool = createPool({ url, applicationName: name, log: SILENT });
  return {
    url,
    pool,
    drop: async () => {
      await pool.end();
      await drop();
    },
  };
}

/** Runs SQL as somebody who owns the tables and has switched the triggers off. */
export async function behindTheBack(pool: Pool, sql: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("alter table decision_record disable trigger user");
    await client.query("alter table chain_head disable trigger user");
    await client.query(sql);
    await client.query("alter table decision_record enable trigger user");
    await client.query("alter table chain_head enable trigger user");
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}
