import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Queryable } from "@lapse/kit";
import { type DecisionFilter, searchDecisions } from "../src/store/decision-search.ts";
import { type AuditDatabase, auditDatabase } from "./lab/database.ts";

const RECORDS = 30_000;
const ACTORS = 500;

let database: AuditDatabase;

beforeAll(async () => {
  database = await auditDatabase("audit-search-plan");
  await database.pool.query(
    `insert into decision_record
     select 'local', n, gen_random_uuid(), timestamptz '2026-01-01' + n * interval '1 second',
       'TYPE_' || n % 50, 'catalog', 'actor ' || n % ${ACTORS}, 'table', 'id ' || n % 1000,
       'name ' || n % 1000, 'dev', 'done', '', '{}', 'run ' || n % 1000, '', 'lapse.catalog', n,
       now(), sha256(''), sha256('')
     from generate_series(1, ${RECORDS}) as n`,
  );
  await database.pool.query("analyze decision_record");
}, 60_000);
afterAll(() => database.drop());

/** The plan of the statement by which a search reads. */
async function planOf(filter: DecisionFilter, limit: number): Promise<string> {
  let statement = { text: "", values: [] as unknown[] };
  const noting: Queryable = {
    query: (text, values) => {
      statement = { text: String(text), values: values ?? [] };
      return database.pool.query(text, values);
    },
  };
  const after = { at: new Date("2026-01-01T09:00:00Z"), seq: BigInt(RECORDS) };
  const found = await searchDecisions(noting, { tenant: "local", filter, after, limit });
  expect(found).toHaveLength(limit);
  const { rows } = await database.pool.query<{ "QUERY PLAN": string }>(
    `explain (analyze) ${statement.text}`,
    statement.values,
  );
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

describe("searching a long log", () => {
  test.each<[string, DecisionFilter]>([
    ["nothing", {}],
    ["type", { type: "TYPE_7" }],
    ["resource", { resource: "id 7" }],
    ["actor", { actor: "actor 7" }],
    ["run", { runId: "run 7" }],
    ["since", { since: new Date("2026-01-01T08:00:00Z") }],
    ["until", { until: new Date("2026-01-01T00:10:00Z") }],
  ])(
    "by %s reads a page from an index, and nothing that it does not give",
    async (_what, filter) => {
      const plan = await planOf(filter, 20);
      expect(plan).not.toContain("Seq Scan");
      const removed = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)];
      expect(Math.max(0, ...removed.map(([, rows]) => Number(rows)))).toBeLessThan(50);
    },
  );

  test("without its index, a search by actor reads the others' decisions as well", async () => {
    await database.pool.query("drop index decision_record_by_actor");
    const plan = await planOf({ actor: "actor 7" }, 20);
    const removed = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)];
    expect(Math.max(0, ...removed.map(([, rows]) => Number(rows)))).toBeGreaterThan(ACTORS);
  });
});
