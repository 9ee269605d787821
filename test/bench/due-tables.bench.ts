import { type Pool, withTransaction } from "@lapse/kit";
import { findDueTables } from "../../services/lifecycle-evaluator/src/store/due-tables.ts";
import { saveEnvironmentRules } from "../../services/lifecycle-evaluator/src/store/environments.ts";
import { type Bench, isFull } from "./support/bench.ts";
import { evaluatorDatabase, idOf, loadTables } from "./support/evaluator-database.ts";
import { medianMs } from "./support/measure.ts";
import type { Figure } from "./support/report.ts";

const PICKED = 100;
const RUNS = 101;
const ENVIRONMENTS = 20;
const DAYS = 60;
const SMALL = [10, 10_000] as const;
const MILLION = 1_000_000;
const SIZES = [...SMALL, MILLION, ...(isFull ? [10 * MILLION] : [])];

interface Measured {
  readonly tables: number;
  readonly pick: number;
  readonly rule: number;
}

/** T33, T8: neither what is picked nor the change of an environment's rule may grow with the number of tables. */
export const dueTables: Bench = {
  name: "due tables",
  parameters: `${ENVIRONMENTS} environments with a rule, a tenth of the tables with their own, a twentieth overdue; one statement each in its transaction; median of ${RUNS} runs`,
  async run() {
    const database = await evaluatorDatabase();
    try {
      const measured: Measured[] = [];
      for (const tables of SIZES) {
        await loadTables(database.pool, { tables, environments: ENVIRONMENTS, days: DAYS });
        measured.push({
          tables,
          pick: await medianMs(RUNS, () => pick(database.pool)),
          rule: await medianMs(RUNS, () => changeRule(database.pool)),
        });
      }
      return [...picks(measured), ...rules(measured)];
    } finally {
      await database.close();
    }
  },
};

function picks(measured: readonly Measured[]): Figure[] {
  const million = measured.find(({ tables }) => tables === MILLION);
  return measured
    .filter(({ tables }) => tables > SMALL[0])
    .map(({ tables, pick: value }) => {
      const shared = {
        what: `pick the ${PICKED} most overdue of ${tables.toLocaleString("en")}`,
        value,
        unit: "ms",
      };
      if (tables === MILLION) return { ...shared, baseline: null, ratio: null, bar: { most: 5 } };
      const larger = tables > MILLION && million !== undefined;
      return {
        ...shared,
        baseline: larger ? { what: "of 1,000,000", value: million.pick } : null,
        ratio: larger ? value / million.pick : null,
        bar: larger ? { most: 1.5 } : null,
      };
    });
}

function rules(measured: readonly Measured[]): Figure[] {
  const [least] = measured;
  return measured.map(({ tables, rule: value }) => ({
    what: `change the rule of an environment, ${tables.toLocaleString("en")} tables in all`,
    value,
    unit: "ms",
    baseline:
      least && tables > least.tables ? { what: `${least.tables} tables`, value: least.rule } : null,
    ratio: least && tables > least.tables ? value / least.rule : null,
    bar: tables > MILLION ? null : tables > SMALL[0] ? { most: 2 } : { most: 20 },
  }));
}

const pick = (pool: Pool) =>
  withTransaction(pool, (tx) =>
    findDueTables(tx, { horizon: new Date(), limit: PICKED, cursor: new Map() }),
  );

let version = 1n;

/** As the fold of the policy stream does when the rule was set. */
async function changeRule(pool: Pool): Promise<void> {
  version += 1n;
  const { rows } = await pool.query<{ id: string }>(`select ${idOf("'e0'")} as id`);
  const environmentId = rows[0]?.id ?? "";
  const rule = { days: DAYS, setBy: "bench", setAt: new Date("2025-01-01T00:00:00Z") };
  await withTransaction(pool, (tx) => saveEnvironmentRules(tx, [{ environmentId, rule, version }]));
}
