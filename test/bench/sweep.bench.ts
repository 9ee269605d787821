import { randomUUID } from "node:crypto";
import { connectNats, createMetrics, createPool, type Nats, type Pool } from "@lapse/kit";
import { waitFor } from "@lapse/test-kit";
import { type System, startSystem } from "../e2e/system.ts";
import { type Bench, isFull } from "./support/bench.ts";
import { log } from "./support/log.ts";
import { median, rate } from "./support/measure.ts";

/** The catalog drops nothing on an event older than a minute, so a sweep has to be through by then. */
const TABLES = isFull ? 20_000 : 5_000;
const RUNS = 5;
const AT_ONCE = 10;
const PATIENCE = { timeoutMs: 240_000, everyMs: 100 };

/**
 * The whole system, each service a process of its own: from the request for a sweep until the last drop is in the
 * audit log, against one transaction and one published message for each table.
 */
export const sweep: Bench = {
  name: "sweep",
  parameters: `${TABLES.toLocaleString("en")} due tables of one environment, cap raised, six processes; the floor with ${AT_ONCE} in flight; median of ${RUNS} runs`,
  async run() {
    const system = await startSystem({
      LAPSE_RUN__SWEEP_INTERVAL: "0",
      LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: String(TABLES),
      LAPSE_TABLES__MAX_EXPIRY_SHARE: "1",
    });
    const open = async (name: string): Promise<Pool> =>
      createPool({ url: await system.databaseUrl(name), applicationName: "bench", log });
    const catalog = await open("lapse_catalog");
    const evaluator = await open("lapse_evaluator");
    const audit = await open("lapse_audit");
    const metrics = createMetrics("bench");
    const nats = await connectNats({ url: system.natsUrl, name: "bench", log, metrics });
    try {
      await makeModel(system);
      await evaluator.query(`create table bench_floor (table_id uuid primary key, at timestamptz)`);
      const swept: number[] = [];
      const floor: number[] = [];
      for (let run = 1; run <= RUNS; run += 1) {
        floor.push(await rate(TABLES, () => touchEach(evaluator, nats)));
        await copyModel(catalog, evaluator, `run${run}`);
        swept.push(
          await rate(TABLES, async () => {
            await system.client.sweeps.run({ waitSeconds: 120 });
            await waitFor(async () => (await dropped(audit)) >= run * TABLES, {
              ...PATIENCE,
              message: "not every table is dropped and audited",
            });
          }),
        );
      }
      return [
        {
          what: `sweep ${TABLES.toLocaleString("en")} due tables, pick to audit`,
          value: median(swept),
          unit: "tables/s",
          baseline: { what: "a transaction and a message each", value: median(floor) },
          ratio: median(swept) / median(floor),
          bar: { least: 0.5 },
        },
      ];
    } finally {
      await nats.close();
      await Promise.all([catalog, evaluator, audit].map((pool) => pool.end()));
      await system.stop();
    }
  },
};

const MODEL = "bronze.model";

/** An environment with a rule and one table with files, as anybody makes them. */
async function makeModel(system: System): Promise<void> {
  const create = ["sql", "SELECT 1 AS id", "--into", MODEL, "--mode", "create"];
  for (const args of [
    ["env", "create", "dev"],
    ["env", "retention", "dev", "--days", "30", "--yes"],
    create,
  ]) {
    const { code, stderr } = await system.lapse(...args);
    if (code !== 0) throw new Error(`lapse ${args.join(" ")}: ${stderr}`);
  }
}

/**
 * Makes the tables to be swept: rows like the model's, of which both services know the same, last used two years
 * ago.
 */
async function copyModel(catalog: Pool, evaluator: Pool, run: string): Promise<void> {
  await waitFor(
    async () => (await evaluator.query(`select from table_state where state = 'live'`)).rowCount,
  );
  const { rows } = await catalog.query<{ id: string }>(
    `select gen_random_uuid() as id from generate_series(1, $1)`,
    [TABLES],
  );
  const ids = rows.map(({ id }) => id);
  await catalog.query(
    `insert into catalog_table
     select (jsonb_populate_record(m, jsonb_build_object(
       'table_id', given.table_id, 'name', '${run}_' || given.nth,
       'key_prefix', replace(m.key_prefix, m.table_id::text, given.table_id::text)))).*
     from catalog_table m, unnest($1::uuid[]) with ordinality as given (table_id, nth)
     where m.name = 'model'`,
    [ids],
  );
  await evaluator.query(
    `insert into table_state
     select (jsonb_populate_record(m, jsonb_build_object(
       'table_id', given.table_id, 'name', '${run}_' || given.nth,
       'last_activity_at', now() - interval '2 years'))).*
     from table_state m, unnest($1::uuid[]) with ordinality as given (table_id, nth)
     where m.name = 'model'`,
    [ids],
  );
  await evaluator.query(
    `update environment_state set retention_set_at = now() - interval '2 years'`,
  );
  await catalog.query(`vacuum analyze catalog_table`);
  await evaluator.query(`vacuum analyze table_state`);
}

async function dropped(audit: Pool): Promise<number> {
  const { rows } = await audit.query<{ n: number }>(
    `select count(*)::integer as n from decision_record where type = 'TABLE_DROPPED'`,
  );
  return rows[0]?.n ?? 0;
}

/** The least that can be done for each table on its own. */
async function touchEach(pool: Pool, nats: Nats): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < TABLES) {
      next += 1;
      const id = randomUUID();
      await pool.query(`insert into bench_floor values ($1, now())`, [id]);
      // Of a stream that nobody here listens to.
      await nats.publish("handoff.bench", Buffer.from(id), {}, { msgId: id });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
