import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { withTransaction } from "@lapse/kit";
import fc from "fast-check";
import { foldCatalog } from "../src/app/fold-catalog.ts";
import { foldPolicy } from "../src/app/fold-policy.ts";
import { isTooMuch } from "../src/domain/breaker.ts";
import { dueRetention } from "../src/domain/due-retention.ts";
import {
  COUNT_LOADS,
  countLoads,
  type LoadQuery,
  loadValues,
} from "../src/store/breaker-counts.ts";
import { loadTableFacts } from "../src/store/table-facts.ts";
import { someEnvironment, someTable, tableChange } from "./lab/changes.ts";
import { type LabDatabase, labDatabase } from "./lab/database.ts";

let db: LabDatabase;
beforeAll(async () => {
  db = await labDatabase("breaker counts");
});
afterAll(() => db.close());
beforeEach(() => db.clear());

const NOW = new Date("2026-07-15T12:00:00.000Z");
const DAY = 86_400_000;
const ago = (days: number) => new Date(NOW.getTime() - days * DAY);
const everybody = { tenant: null, exceptTenants: [] };

const count = (query: Partial<LoadQuery> = {}) =>
  withTransaction(db.pool, (tx) =>
    countLoads(tx, {
      horizon: NOW,
      scope: everybody,
      share: 0.5,
      confirmed: new Map(),
      ...query,
    }),
  );

/** An environment with so many tables by its rule of ten days, each used so many days ago; one rule of their own. */
async function build(
  used: readonly number[],
  { tenant = "local", name = "dev" } = {},
): Promise<{ readonly environmentId: string; readonly ids: readonly string[] }> {
  const environment = someEnvironment({ tenant, name });
  const { environmentId } = environment;
  const tables = used.map((days, index) =>
    someTable({ environmentId, tenant, name: `t${index}`, createdAt: ago(days) }),
  );
  const own = tables.filter((_, index) => index % 3 === 0);
  const set = { setBy: "ana", setAt: ago(90) };
  await withTransaction(db.pool, async (tx) => {
    await foldCatalog(tx, [{ environment }, ...tables.map(tableChange)]);
    await foldPolicy(tx, [
      { environment: { environmentId, rule: { days: 10, ...set }, version: 1n } },
      ...own.map(({ tableId }) => ({
        table: {
          tableId,
          rule: { kind: "days" as const, days: 10, ...set },
          version: 1n,
          sequence: 1n,
        },
      })),
    ]);
  });
  return { environmentId, ids: tables.map(({ tableId }) => tableId) };
}

describe("countLoads", () => {
  test("T26 counts what the arithmetic of the rules calls due, and comes to the same verdict", async () => {
    const ages = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 12, maxLength: 45 });
    const share = fc.constantFrom(0.1, 0.5, 0.9);
    const until = fc.option(fc.integer({ min: 1, max: 25 }));
    await fc.assert(
      fc.asyncProperty(ages, share, until, async (used, part, confirmedDaysAgo) => {
        await db.clear();
        const { environmentId, ids } = await build(used);
        const facts = await loadTableFacts(db.pool, ids);
        const due = facts.flatMap((each) => dueRetention(each, NOW)?.expiredAt ?? []);
        const until = confirmedDaysAgo === null ? null : ago(confirmedDaysAgo);
        const covered = due.filter((at) => until !== null && at <= until).length;
        const expected = { due: due.length - covered, tables: ids.length };
        const confirmed = new Map(until === null ? [] : [[environmentId, until]]);
        const [load] = await count({ share: part, confirmed });
        expect(load !== undefined && isTooMuch(load, part)).toBe(isTooMuch(expected, part));
        if (load !== undefined) {
          expect(load).toMatchObject({ environmentId, due: expected.due, covered });
          expect(load.tables).toBeLessThanOrEqual(ids.length);
        }
        if (load !== undefined && isTooMuch(load, part)) {
          expect(load.tables).toBe(ids.length);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("T26 leaves out environments that are protected, gone, or of a tenant that is not served", async () => {
    const { environmentId } = await build(Array(30).fill(20));
    const other = await build(Array(30).fill(20), { tenant: "other" });
    const of = async (scope: LoadQuery["scope"]) =>
      (await count({ scope })).map((load) => load.environmentId).sort();
    expect(await of(everybody)).toEqual([environmentId, other.environmentId].sort());
    expect(await of({ tenant: "local", exceptTenants: [] })).toEqual([environmentId]);
    expect(await of({ tenant: null, exceptTenants: ["local"] })).toEqual([other.environmentId]);
    await db.pool.query(
      `update environment_state set protected = tenant = 'local', deleted = tenant = 'other'`,
    );
    expect(await of(everybody)).toEqual([]);
  });

  test("T24 T26 an environment with few due tables costs no count, and the live tables are not counted to their end", async () => {
    await db.pool.query(
      `insert into environment_state (environment_id, tenant, name, protected, change_version, retention_days, retention_set_by, retention_set_at, policy_version)
       select md5('e' || g)::uuid, 'local', 'e' || g, false, 1, 30, 'ana', now() - interval '400 days', 1 from generate_series(0, 1) g`,
    );
    // Of the first environment nine are due, of the second twenty of twenty thousand.
    await db.pool.query(
      `insert into table_state (table_id, tenant, environment_id, namespace, name, kind, state, change_version, last_activity_at, last_activity_kind, expires_by, folded_at)
       select md5(e || 't' || g)::uuid, 'local', md5('e' || e)::uuid, 'n', 't' || g, 'managed', 'live', 1,
         now() - case when g <= 9 + e * 11 then interval '40 days' else interval '1 day' end, 'read', 'environment', now()
       from generate_series(1, 20000) g, generate_series(0, 1) e`,
    );
    await db.pool.query("analyze table_state");
    const loads = await count({ horizon: new Date() });
    expect(loads.map(({ environment, due }) => ({ environment, due }))).toEqual([
      { environment: "e1", due: 20 },
    ]);
    expect(loads[0]?.tables).toBeLessThan(50);
    const plan = await withTransaction(db.pool, async (tx) => {
      // Leaves the settings of the planner as they are for the query itself.
      const query = { horizon: NOW, scope: everybody, share: 0.5, confirmed: new Map() };
      await countLoads(tx, query);
      const { rows } = await tx.query(`explain ${COUNT_LOADS}`, loadValues(query));
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    });
    expect(plan).not.toMatch(/(Seq|Bitmap Heap) Scan on table_state/);
  });
});
