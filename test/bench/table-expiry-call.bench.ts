import { createAuthenticator, createGrpcClient, createGrpcServer, createMetrics } from "@lapse/kit";
import { OutboxService } from "@lapse/proto/common";
import { testNats, testTokens } from "@lapse/test-kit";
import { startTestEvaluator } from "../../services/lifecycle-evaluator/test/lab/evaluator.ts";
import type { Bench } from "./support/bench.ts";
import { evaluatorDatabase, loadTables } from "./support/evaluator-database.ts";
import { log } from "./support/log.ts";
import { inTurns, rate } from "./support/measure.ts";

const TABLES = 100_000;
const CALLS = 5_000;
const IN_FLIGHT = 32;
const RUNS = 7;

/** What an answer costs beyond being asked: against a call that does nothing, to such a server in the same process. */
export const tableExpiryCall: Bench = {
  name: "table expiry call",
  parameters: `${CALLS.toLocaleString("en")} calls, ${IN_FLIGHT} in flight, of ${TABLES.toLocaleString("en")} tables at random; client and server in one process; median of ${RUNS} runs`,
  async run() {
    const tokens = testTokens();
    const database = await evaluatorDatabase();
    const broker = await testNats();
    await loadTables(database.pool, { tables: TABLES, environments: 20, days: 60 });
    const { rows } = await database.pool.query<{ id: string }>(
      `select table_id as id from table_state order by random() limit ${CALLS}`,
    );
    const evaluator = await startTestEvaluator({
      databaseUrl: database.url,
      natsUrl: broker.url,
      tokens,
    });
    const empty = await startEmptyServer(tokens.publicKey);
    const serviceToken = tokens.sign({ subject: "bench", tenant: "*", kind: "service" });
    const client = createGrpcClient(OutboxService, { url: empty.url, serviceToken, log });
    try {
      const rates = await inTurns(RUNS, {
        empty: () => rate(CALLS, () => all(rows, () => client.getOutboxHead({}))),
        expiry: () =>
          rate(CALLS, () =>
            all(rows, ({ id }) => evaluator.client.getTableExpiry({ tableId: id })),
          ),
      });
      return [
        {
          what: "GetTableExpiry",
          value: rates.expiry,
          unit: "calls/s",
          baseline: { what: "an empty call", value: rates.empty },
          ratio: rates.expiry / rates.empty,
          bar: { least: 0.7 },
        },
      ];
    } finally {
      client.close();
      await empty.stop();
      await evaluator.stop();
      await broker.close();
      await database.close();
    }
  },
};

async function startEmptyServer(publicKey: string) {
  const server = createGrpcServer({
    services: [
      [
        OutboxService,
        {
          getOutboxHead: async () => ({}),
          async *replayOutbox() {
            // Nothing was ever sent.
          },
        },
      ],
    ],
    authenticate: createAuthenticator({ publicKey }),
    log,
    metrics: createMetrics("bench"),
  });
  const port = await server.listen("127.0.0.1", 0);
  return { url: `http://127.0.0.1:${port}`, stop: () => server.stop() };
}

/** Calls for each, some at a time. */
async function all<T>(items: readonly T[], call: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  const caller = async () => {
    for (const item of waiting) await call(item);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
}
