// How long it takes to find the 100 most overdue tables, and to change an environment's retention, by the number of
// tables (T8, T33): neither may grow with it.
//
//   node --conditions=source --import ./scripts/typescript.mjs services/lifecycle-evaluator/bench/due-tables.bench.ts [sizes]
//
// Sizes are 10000, 100000 and 1000000 unless given, e.g. `1000000 10000000` (10 M tables take 5 GB and some minutes).
// The database is the tests' own unless TEST_POSTGRES_URL names one; it is removed afterwards.

import { cpus } from "node:os";
import { join } from "node:path";
import { createLogger, createPool, type Pool, withTransaction } from "@lapse/kit";
import { testDatabase } from "@lapse/test-kit";
import { endRun, startRun } from "@lapse/test-kit/run";
import { findDueTables } from "../src/store/due-tables.ts";
import { saveEnvironmentRules } from "../src/store/environments.ts";

const RUNS = 51;
const ENVIRONMENTS = 20;
const sizes = process.argv.slice(2).map(Number);

const OVERDUE = `
  select count(*) as overdue
  from table_state t join environment_state e using (environment_id)
  where coalesce(t.own_due_at, t.last_activity_at + make_interval(days => e.retention_days)) <= now()`;

let version = 1n;
const log = createLogger({ service: "bench", level: "warn" });
await startRun();
const database = await testDatabase({
  migrations: join(import.meta.dirname, "..", "migrations"),
  name: "evaluator-bench",
});
const pool = createPool({
  url: database.url,
  applicationName: "evaluator-bench",
  statementTimeoutMs: 3_600_000,
  log,
});
try {
  const [cpu] = cpus();
  console.log(`${cpus().length} × ${cpu?.model}; Node ${process.version}`);
  console.log(
    `${ENVIRONMENTS} environments with a rule, a tenth of the tables with their own; median of ${RUNS} runs\n`,
  );
  console.log("tables       overdue   100 most overdue   next 100   environment's rule changed");
  for (const size of sizes.length > 0 ? sizes : [10_000, 100_000, 1_000_000]) {
    await fill(pool, size);
    const { rows } = await pool.query<{ overdue: bigint }>(OVERDUE);
    const first = await find(new Map());
    const cursor = new Map(
      first.map(({ place }) => [`${place.environmentId} ${place.source}`, place] as const),
    );
    const cells = [
      size.toLocaleString("en").padEnd(10),
      Number(rows[0]?.overdue).toLocaleString("en").padStart(10),
      shown(await median(() => find(new Map()))).padStart(19),
      shown(await median(() => find(cursor))).padStart(11),
      shown(await median(() => changeRule())).padStart(29),
    ];
    console.log(cells.join(""));
  }
} finally {
  await pool.end();
  await database.drop();
  await endRun();
}

/** Tables used over the last 63 days, rules of 60: a twentieth is overdue. */
async function fill(db: Pool, size: number): Promise<void> {
  await db.query(`truncate table_state, environment_state`);
  await db.query(
    `insert into environment_state (
       environment_id, tenant, name, protected, change_version,
       retention_days, retention_set_by, retention_set_at, policy_version)
     select md5('e' || g)::uuid, 'local', 'e' || g, false, 1, 60, 'bench', now() - interval '400 days', 1
     from generate_series(0, $1 - 1) g`,
    [ENVIRONMENTS],
  );
  await db.query(
    `insert into table_state (
       table_id, tenant, environment_id, namespace, name, kind, state, owner, change_version, created_at,
       last_changed_at, last_activity_at, last_activity_kind, rule_kind, rule_days, rule_set_by, rule_set_at,
       own_due_at, expires_by, folded_at)
     select md5('t' || g)::uuid, 'local', md5('e' || g % $2)::uuid, 'bronze', 't' || g, 'managed', 'live', 'bench', 1,
       at, at, at, 'read',
       case when own then 'days' end, case when own then 60 end, case when own then 'bench' end, case when own then at end,
       case when own then at + interval '1440 hours' end, case when own then 'table' else 'environment' end, now()
     from (
       select g, now() - random() * interval '63 days' as at, g / $2 % 10 = 0 as own
       from generate_series(1, $1) g
     ) x`,
    [size, ENVIRONMENTS],
  );
  await db.query(`vacuum analyze table_state`);
  await db.query(`analyze environment_state`);
}

function find(cursor: Parameters<typeof findDueTables>[1]["cursor"]) {
  return withTransaction(pool, (tx) =>
    findDueTables(tx, { horizon: new Date(), limit: 100, cursor }),
  );
}

async function changeRule(): Promise<void> {
  const { rows } = await pool.query<{ environment_id: string }>(
    `select environment_id from environment_state limit 1`,
  );
  version += 1n;
  await withTransaction(pool, (tx) =>
    saveEnvironmentRules(tx, [
      {
        environmentId: rows[0]?.environment_id ?? "",
        rule: { days: 60, setBy: "bench", setAt: new Date("2025-01-01T00:00:00Z") },
        version,
      },
    ]),
  );
}

/** In ms. */
async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? Number.NaN;
}

function shown(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}
