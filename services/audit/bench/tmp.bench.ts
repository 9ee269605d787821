// How fast decisions are appended to the chain, against a batched INSERT of the same rows into a table
// with the same columns, constraints and indexes, without chain, inbox or decoding, in the same run.
//
//   node --conditions=source --import ./scripts/typescript.mjs services/audit/bench/append.bench.ts
//
// The database is the tests' own (not durable) unless TEST_POSTGRES_URL names one; where commits wait for a disk,
// both sides wait alike and the ratio rises.

import { cpus } from "node:os";
import { join } from "node:path";
import { createLogger, createMetrics, createPool, type Delivery, type Queryable } from "@lapse/kit";
import { testDatabase } from "@lapse/test-kit";
import { endRun, startRun } from "@lapse/test-kit/run";
import { extendChain } from "../src/domain/chain.ts";
import type { Decision } from "../src/domain/decision.ts";
import { decisionReceiver } from "../src/events/decision-receiver.ts";
import { insertDecisions } from "../src/store/decision-record.ts";
import { aDecision } from "../test/lab/a-decision.ts";
import { deliveryOf, sentDecision } from "../test/lab/delivery.ts";

const PER_RUN = 20_000;
const BATCH = 500;
const RUNS = 5;
const LOG_SIZES = [0];
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
try {
  await pool.query("create table plain_record (like decision_record including all)");
  const [cpu] = cpus();
  console.log(`${cpus().length} × ${cpu?.model}; Node ${process.version}`);
  console.log(`${PER_RUN} decisions in batches of ${BATCH}; median of ${RUNS} runs\n`);
  console.log("records in the log   chained/s   plain/s   ratio");
  for (const size of LOG_SIZES) {
    await fillTo(size);
    const { chained, plain } = await measure();
    const ratio = (chained / plain).toFixed(2);
    const cells = [size, Math.round(chained), Math.round(plain)].map((n) => n.toLocaleString("en"));
    console.log(
      `${cells[0]?.padStart(18)}${cells[1]?.padStart(12)}${cells[2]?.padStart(10)}${ratio.padStart(8)}`,
    );
  }
} finally {
  await pool.end();
  await database.drop();
  await endRun();
}

/** Decisions per second, each the median of the runs, which alternate. */
async function measure(): Promise<{ chained: number; plain: number }> {
  const receiver = decisionReceiver({ pool, metrics: createMetrics("audit") });
  const rates = { chained: [] as number[], plain: [] as number[] };
  for (let run = 0; run < RUNS; run++) {
    const deliveries = batches(() => delivery());
    rates.chained.push(
      await rate(async () => {
        for (const batch of deliveries) await receiver.fromStream(batch);
      }),
    );
    const statements = await Promise.all(batches(() => decision()).map(plainInsert));
    rates.plain.push(
      await rate(async () => {
        for (const { text, values } of statements) await pool.query(text, values);
      }),
    );
  }
  return { chained: median(rates.chained), plain: median(rates.plain) };
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

/** The service's own insert, into the plain table, with its values made ready before the clock runs. */
async function plainInsert(decisions: readonly Decision[]) {
  let statement = { text: "", values: [] as unknown[] };
  const noting: Queryable = {
    query: async (text, values = []) => {
      statement = { text: String(text).replace("decision_record", "plain_record"), values };
      return { rows: [], rowCount: 0, command: "", oid: 0, fields: [] };
    },
  };
  const head = { seq: plainSeq, hash: new Uint8Array(32) };
  plainSeq += BigInt(decisions.length);
  await insertDecisions(noting, extendChain(head, decisions, new Date()));
  return statement;
}

async function rate(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
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
