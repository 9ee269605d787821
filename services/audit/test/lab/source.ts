import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  appendDecisions,
  createAuthenticator,
  createGrpcServer,
  createMetrics,
  createPool,
  migrate,
  type Nats,
  outboxHandlers,
  type Pool,
  startOutboxRelay,
  withTransaction,
} from "@lapse/kit";
import { AccessService } from "@lapse/proto/catalog";
import { OutboxService } from "@lapse/proto/common";
import { testDatabase } from "@lapse/test-kit";
import { labAccess } from "./access.ts";
import { SILENT } from "./database.ts";

/** A service that decides: an outbox of its own, a relay to the broker, and OutboxService; and what is known of callers. */
export interface Source {
  readonly url: string;
  readonly pool: Pool;
  /** Decides that `count` tables are dropped; gives the ids of the decisions. */
  decide(count: number): Promise<string[]>;
  /** Whether the broker has everything. */
  allSent(): Promise<boolean>;
  close(): Promise<void>;
}

export async function openSource(nats: Nats, publicKey: string): Promise<Source> {
  const empty = await mkdtemp(join(tmpdir(), "lapse-no-migrations-"));
  const database = await testDatabase({
    migrations: (url) => migrate({ url, directory: empty, log: SILENT }),
    name: "audit-source",
  });
  const pool = createPool({ url: database.url, applicationName: "source", log: SILENT });
  const source = "lapse.catalog";
  const metrics = createMetrics("catalog");
  const relay = startOutboxRelay({ pool, nats, source, log: SILENT, metrics });
  const server = createGrpcServer({
    services: [
      [OutboxService, outboxHandlers({ pool, source })],
      [AccessService, labAccess(["admin", "reader"], ["auditor"])],
    ],
    authenticate: createAuthenticator({ publicKey }),
    log: SILENT,
    metrics,
  });
  const url = `http://127.0.0.1:${await server.listen("127.0.0.1", 0)}`;
  const decision = {
    service: "catalog",
    tenant: "local",
    type: "TABLE_DROPPED",
    resource: { kind: "table", id: "t", name: "bronze.trial", environment: "dev" },
    outcome: "done",
    reason: "retention",
    details: { retention: { source: "table", days: 3 } },
  } as const;
  return {
    url,
    pool,
    decide: (count) =>
      withTransaction(pool, (tx) =>
        appendDecisions(tx, Array<typeof decision>(count).fill(decision), new Date()),
      ),
    async allSent() {
      const { rowCount } = await pool.query(
        "select from lapse_kit.outbox where published_at is null limit 1",
      );
      return rowCount === 0;
    },
    async close() {
      await relay.stop();
      await server.stop();
      await pool.end();
      await database.drop();
      await rm(empty, { recursive: true });
    },
  };
}

/** A service that has decided nothing yet. */
export async function openIdleSource(
  publicKey: string,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createGrpcServer({
    services: [[OutboxService, { getOutboxHead: async () => ({}), async *replayOutbox() {} }]],
    authenticate: createAuthenticator({ publicKey }),
    log: SILENT,
    metrics: createMetrics("idle"),
  });
  const url = `http://127.0.0.1:${await server.listen("127.0.0.1", 0)}`;
  return { url, close: () => server.stop() };
}
