// How fast decisions are appended to the chain, against a batched INSERT of the same rows into a table with the
// same columns, constraints and indexes and no chain, in the same run. "appended": decisions in hand, each once in
// one chain. "taken in": from the bytes of the message on, with the sources' numbers noted.
//
//   node --conditions=source --import ./scripts/typescript.mjs services/audit/bench/append.bench.ts
//
// The database is the tests' own (not durable) unless TEST_POSTGRES_URL names one; where commits wait for a disk,
// all three wait alike and the ratios rise.

import { cpus } from "node:os";
import { join } from "node:path";
import { createLogger, createMetrics, createPool, type Delivery, type Queryable } from "@lapse/kit";
import { testDatabase } from "@lapse/test-kit";
import { endRun, startRun } from "@lapse/test-kit/run";
import { appendDecisions } from "../src/app/append-decisions.ts";
import { extendChain, NO_HASH } from "../src/domain/chain.ts";
import type { Decision, DecisionRecord } from "../src/domain/decision.ts";
import { decisionReceiver } from "../src/events/decision-receiver.ts";
import { insertDecisions } from "../src/store/decision-record.ts";
import { aDecision } from "../test/lab/a-decision.ts";
import { deliveryOf, sentDecision } from "../test/lab/delivery.ts";

const PER_RUN = 20_000;
const BATCH = 500;
const RUNS = 5;
const LOG_SIZES = [0, 200_000, 400_000];
const SOURCES = ["lapse.catalog", "lapse.retention-policy", "lapse.lifecycle-evaluator"];

const log = createLogger({ service: "bench", level: "warn" });
let sequence = 0n;
let plainSeq = 0n;

await startRun();
const database = await testDatabase({
  migrations: join(import.meta.dirname, "..", "migrations"),
  name: "audit-bench",
});
const pool = createPool({ url: database.url, applicationName: "audit-bench", log });
/** The same insert, into the table without a chain. */
const plainTable: Queryable = {
  query: (text, values) =>
    pool.query(String(text).replace("decision_record", "plain_record"), values),
};
try {
  await pool.query("create table plain_record (like decision_record including all)");
  const [cpu] = cpus();
  console.log(`${cpus().length} × ${cpu?.model}; Node ${process.version}`);
  console.log(`${PER_RUN} decisions in batches of ${BATCH}; median of ${RUNS} runs\n`);
  console.log("records in the log   appended/s   taken in/s   plain/s   ratios");
  for (const size of LOG_SIZES) {
    await fillTo(size);
    const { appended, takenIn, plain } = await measure();
    const ratios = `${(appended / plain).toFixed(2)}  ${(takenIn / plain).toFixed(2)}`;
    const [log, a, t, p] = [size, appended, takenIn, plain].map((n) =>
      Math.round(n).toLocaleString("en"),
    );
    console.log(
      `${log?.padStart(18)}${a?.padStart(13)}${t?.padStart(13)}${p?.padStart(10)}   ${ratios}`,
    );
  }
} finally {
  await pool.end();
  await database.drop();
  await endRun();
}

/** Decisions per second, each the median of the runs, which take turns. */
async function measure() {
  const receiver = decisionReceiver({ pool, metrics: createMetrics("audit") });
  const rates: Record<"appended" | "takenIn" | "plain", number[]> = {
    appended: [],
    takenIn: [],
    plain: [],
  };
  for (let run = 0; run < RUNS; run++) {
    rates.appended.push(
      await rate(batches(decision), (batch) => appendDecisions(pool, batch, async () => {})),
    );
    rates.takenIn.push(await rate(batches(delivery), (batch) => receiver.fromStream(batch)));
    rates.plain.push(
      await rate(batches(decision).map(unchained), (batch) => insertDecisions(plainTable, batch)),
    );
  }
  return {
    appended: median(rates.appended),
    takenIn: median(rates.takenIn),
    plain: median(rates.plain),
  };
}

function batches<T>(make: () => T): T[][] {
  return Array.from({ length: PER_RUN / BATCH }, () => Array.from({ length: BATCH }, make));
}

function delivery(): Delivery {
  const { resource, details, runId, ...given } = decision();
  return deliveryOf(
    sentDecision({ id: given.id, actor: given.actor, resource: { ...resource }, details, runId }),
    { source: given.source, sequence: given.sourceSequence ?? 0n },
  );
}

function decision(): Decision {
  sequence += 1n;
  const source = SOURCES[Number(sequence) % SOURCES.length] ?? "";
  return aDecision({
    source,
    sourceSequence: sequence / BigInt(SOURCES.length) + 1n,
    actor: "ana",
  });
}

function unchained(decisions: readonly Decision[]): DecisionRecord[] {
  const head = { seq: plainSeq, hash: NO_HASH };
  plainSeq += BigInt(decisions.length);
  return extendChain(head, decisions, new Date());
}

async function rate<T>(work: readonly T[], handle: (batch: T) => Promise<unknown>) {
  const started = performance.now();
  for (const batch of work) await handle(batch);
  return (PER_RUN * 1_000) / (performance.now() - started);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Lengthens the log, and the plain table, to `size` records with those of another tenant. */
async function fillTo(size: number): Promise<void> {
  for (const table of ["decision_record", "plain_record"]) {
    const { rows } = await pool.query<{ own: bigint; records: bigint }>(
      `select count(*) filter (where tenant = 'filler') as own, count(*) as records from ${table}`,
    );
    const [{ own, records } = { own: 0n, records: 0n }] = rows;
    const step = 20_000;
    for (let from = 0; from < size - Number(records); from += step) {
      await pool.query(
        `insert into ${table}
         select 'filler', $1::bigint + n, gen_random_uuid(), now(), 'TABLE_DROPPED', 'catalog', 'ana',
           'table', gen_random_uuid(), 'bronze.t' || n % 1000, 'dev', 'done', 'retention',
           '{"retention": {"source": "table", "days": 30}}', gen_random_uuid(), '', 'filler', n, now(),
           sha256(''), sha256('')
         from generate_series(1, $2::int) as n`,
        [own + BigInt(from), Math.min(step, size - Number(records) - from)],
      );
    }
    await pool.query(`vacuum analyze ${table}`);
  }
}
