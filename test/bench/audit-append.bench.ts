import { join } from "node:path";
import { createMetrics, createPool, type Delivery, type Pool, type Queryable } from "@lapse/kit";
import { testDatabase } from "@lapse/test-kit";
import { appendDecisions } from "../../services/audit/src/app/append-decisions.ts";
import { extendChain, NO_HASH } from "../../services/audit/src/domain/chain.ts";
import type { Decision, DecisionRecord } from "../../services/audit/src/domain/decision.ts";
import { decisionReceiver } from "../../services/audit/src/events/decision-receiver.ts";
import { insertDecisions } from "../../services/audit/src/store/decision-record.ts";
import { aDecision } from "../../services/audit/test/lab/a-decision.ts";
import { deliveryOf, sentDecision } from "../../services/audit/test/lab/delivery.ts";
import type { Bench } from "./support/bench.ts";
import { log } from "./support/log.ts";
import { inTurns, rate } from "./support/measure.ts";
import type { Figure } from "./support/report.ts";

const PER_RUN = 20_000;
const BATCH = 500;
const RUNS = 5;
const LOG_SIZES = [0, 200_000, 400_000];
const SOURCES = ["lapse.catalog", "lapse.retention-policy", "lapse.lifecycle-evaluator"];
const MIGRATIONS = join(import.meta.dirname, "../../services/audit/migrations");

/**
 * Decisions in hand, each once in one chain, against a batched insert of the same rows into a table with the same
 * columns, constraints and indexes and no chain. And from the bytes of the message on, with the sources' numbers
 * noted.
 */
export const auditAppend: Bench = {
  name: "audit append",
  parameters: `${PER_RUN.toLocaleString("en")} decisions in batches of ${BATCH}; median of ${RUNS} runs`,
  async run() {
    const database = await testDatabase({ migrations: MIGRATIONS, name: "audit bench" });
    const pool = createPool({ url: database.url, applicationName: "bench", log });
    try {
      await pool.query("create table plain_record (like decision_record including all)");
      const appending = new Appending(pool);
      const figures: Figure[] = [];
      for (const size of LOG_SIZES) {
        await fillTo(pool, size);
        figures.push(...(await appending.measure(size)));
      }
      return figures;
    } finally {
      await pool.end();
      await database.drop();
    }
  },
};

class Appending {
  readonly #pool: Pool;
  #sequence = 0n;
  #plainSeq = 0n;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async measure(size: number): Promise<readonly Figure[]> {
    const pool = this.#pool;
    const receiver = decisionReceiver({ pool, metrics: createMetrics("audit") });
    /** The same insert, into the table without a chain. */
    const plainTable: Queryable = {
      query: (text, values) =>
        pool.query(String(text).replace("decision_record", "plain_record"), values),
    };
    const rates = await inTurns(RUNS, {
      appended: () =>
        each(
          batches(() => this.#decision()),
          (batch) => appendDecisions(pool, batch, async () => {}),
        ),
      takenIn: () =>
        each(
          batches(() => this.#delivery()),
          (batch) => receiver.fromStream(batch),
        ),
      plain: () =>
        each(
          batches(() => this.#decision()).map((batch) => this.#unchained(batch)),
          (batch) => insertDecisions(plainTable, batch),
        ),
    });
    const figure = (what: string, value: number, bar: Figure["bar"]): Figure => ({
      what: `${what}, ${size.toLocaleString("en")} in the log`,
      value,
      unit: "decisions/s",
      baseline: { what: "no chain", value: rates.plain },
      ratio: value / rates.plain,
      bar,
    });
    return [
      figure("append decisions", rates.appended, { least: 0.5 }),
      figure("take in from messages", rates.takenIn, null),
    ];
  }

  #decision(): Decision {
    this.#sequence += 1n;
    const source = SOURCES[Number(this.#sequence) % SOURCES.length] ?? "";
    const sourceSequence = this.#sequence / BigInt(SOURCES.length) + 1n;
    return aDecision({ source, sourceSequence, actor: "ana" });
  }

  #delivery(): Delivery {
    const { id, actor, resource, details, runId, source, sourceSequence } = this.#decision();
    return deliveryOf(sentDecision({ id, actor, resource: { ...resource }, details, runId }), {
      source,
      sequence: sourceSequence ?? 0n,
    });
  }

  #unchained(decisions: readonly Decision[]): DecisionRecord[] {
    const head = { seq: this.#plainSeq, hash: NO_HASH };
    this.#plainSeq += BigInt(decisions.length);
    return extendChain(head, decisions, new Date());
  }
}

const batches = <T>(make: () => T): T[][] =>
  Array.from({ length: PER_RUN / BATCH }, () => Array.from({ length: BATCH }, make));

const each = <T>(work: readonly T[], handle: (batch: T) => Promise<unknown>): Promise<number> =>
  rate(PER_RUN, async () => {
    for (const batch of work) await handle(batch);
  });

/** Lengthens the log, and the plain table, to `size` records with those of another tenant. */
async function fillTo(pool: Pool, size: number): Promise<void> {
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
