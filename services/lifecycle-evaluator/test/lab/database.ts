import { join } from "node:path";
import { createLogger, createPool, type Logger, type Pool } from "@lapse/kit";
import { testDatabase } from "@lapse/test-kit";

/** A database of one test file, migrated, with a pool over it. */
export interface LabDatabase {
  readonly url: string;
  readonly pool: Pool;
  readonly log: Logger;
  /** Empties the service's tables. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Says only what a test ought not to see. */
export const quiet = createLogger({
  service: "test",
  level: (process.env.TEST_LOG_LEVEL ?? "fatal") as "fatal",
});

/** Made once per test file. */
export async function labDatabase(name: string): Promise<LabDatabase> {
  const { url, drop } = await testDatabase({
    migrations: join(import.meta.dirname, "..", "..", "migrations"),
    name,
  });
  const pool = createPool({ url, applicationName: "test", log: quiet });
  return {
    url,
    pool,
    log: quiet,
    async clear() {
      await pool.query(`
        truncate table_state, environment_state, fold_position, table_read_day, table_read_source,
          sweep, sweep_candidate, sweep_tally, sweep_tenant, sweep_hold, sweep_pause, lapse_kit.clock_watch,
          lapse_kit.clock_hold, lapse_kit.outbox, lapse_kit.outbox_stream, lapse_kit.inbox`);
      await pool.query(`update evaluation_basis set day_seconds = 86400, signal_floor_at = null`);
      await pool.query(`update sweep_control set last_started_at = null`);
    },
    async close() {
      await pool.end();
      await drop();
    },
  };
}
