import { join } from "node:path";
import { type TestNats, testDatabase, testNats } from "@lapse/test-kit";
import {
  connectNats,
  createLogger,
  createMetrics,
  createPool,
  ensureStreams,
  type Logger,
  type Metrics,
  type Nats,
  type Pool,
} from "../../src/index.ts";

/** Says nothing unless `LAPSE_TEST_LOG` names a level. */
export const log: Logger = createLogger({
  service: "test",
  level: process.env.LAPSE_TEST_LOG === "debug" ? "debug" : "silent",
});

/** A pool on a fresh database with the kit's tables and the table `effect`. */
export async function kitDatabase(
  name: string,
): Promise<{ readonly pool: Pool; readonly url: string; close(): Promise<void> }> {
  const { url, drop } = await testDatabase({
    migrations: join(import.meta.dirname, "migrations"),
    name,
  });
  const pool = createPool({ url, size: 8, applicationName: name, log });
  return {
    pool,
    url,
    close: async () => {
      await pool.end();
      await drop();
    },
  };
}

/** A broker of this test file with all streams, and a connection to it. */
export async function kitNats(): Promise<{
  readonly server: TestNats;
  readonly nats: Nats;
  readonly metrics: Metrics;
  close(): Promise<void>;
}> {
  const server = await testNats();
  const metrics = createMetrics("test");
  const nats = await connectNats({ url: server.url, name: "test", log, metrics });
  await ensureStreams(nats, { log });
  return {
    server,
    nats,
    metrics,
    close: async () => {
      await nats.close();
      await server.close();
    },
  };
}

/** The value of a metric, summed over its labels; 0 when it has none. */
export async function metricValue(metrics: Metrics, name: string): Promise<number> {
  const metric = await metrics.registry.getSingleMetric(name)?.get();
  return metric?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
}

/** A second connection, as of another process. */
export const connectAnother = (
  server: TestNats,
  name: string,
  metrics: Metrics = createMetrics(name),
): Promise<Nats> => connectNats({ url: server.url, name, log, metrics });
