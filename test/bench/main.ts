// Runs the benches and prints what they found: `make bench`, or for some of them
// `node --conditions=source --import ./scripts/typescript.mjs test/bench/main.ts "due tables"`.
//
// BENCH_FULL=1 adds what takes long to prepare (10,000,000 tables), BENCH_RECORD=1 puts the table into
// docs/benchmarks.md. PostgreSQL is one of our own that commits durably unless TEST_POSTGRES_URL names another.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { endRun, startRun } from "@lapse/test-kit/run";
import { activityFold } from "./activity-fold.bench.ts";
import { auditAppend } from "./audit-append.bench.ts";
import { dueTables } from "./due-tables.bench.ts";
import type { Bench } from "./support/bench.ts";
import { type BenchResult, load, machine, type Report, toTable } from "./support/report.ts";
import { sweep } from "./sweep.bench.ts";
import { tableExpiryCall } from "./table-expiry-call.bench.ts";

const BENCHES: readonly Bench[] = [activityFold, dueTables, sweep, auditAppend, tableExpiryCall];
const ROOT = join(import.meta.dirname, "../..");
const RESULTS = join(ROOT, "bench-results.json");
const PAGE = join(ROOT, "docs/benchmarks.md");
const BEGIN = "<!-- results: begin -->";
const END = "<!-- results: end -->";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  const names = BENCHES.map(({ name }) => JSON.stringify(name)).join(", ");
  console.error(
    `there is no bench ${unknown.map((name) => JSON.stringify(name)).join(", ")}; there are ${names}`,
  );
  process.exit(2);
}

await startRun();
const results: BenchResult[] = [];
try {
  for (const bench of BENCHES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    console.error(`${bench.name}: ${bench.parameters}`);
    results.push(await run(bench));
  }
} finally {
  await endRun();
}
const report: Report = { at: new Date().toISOString().slice(0, 16), machine: machine(), results };
await writeFile(RESULTS, `${JSON.stringify(report, null, 2)}\n`);
console.log(toTable(report));
if (process.env.BENCH_RECORD === "1") await record(toTable(report));
process.exitCode = results.some(({ error }) => error !== null) ? 1 : 0;

async function run({ name, parameters, run: measure }: Bench): Promise<BenchResult> {
  const before = load();
  const started = performance.now();
  const found = await measure().then(
    (figures) => ({ figures, error: null }),
    (error: unknown) => {
      console.error(error);
      return { figures: [], error: String(error) };
    },
  );
  const seconds = (performance.now() - started) / 1_000;
  return { name, parameters, load: [before, load()], seconds, ...found };
}

async function record(table: string): Promise<void> {
  const page = await readFile(PAGE, "utf8");
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end === -1) throw new Error(`${PAGE} has lost its markers`);
  await writeFile(PAGE, `${page.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${page.slice(end)}`);
}
