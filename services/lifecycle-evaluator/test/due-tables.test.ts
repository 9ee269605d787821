import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { withTransaction } from "@lapse/kit";
import fc from "fast-check";
import { foldCatalog } from "../src/app/fold-catalog.ts";
import { foldPolicy } from "../src/app/fold-policy.ts";
import type { EnvironmentSnapshot, TableSnapshot } from "../src/domain/changes.ts";
import { advance, type DueCursor } from "../src/domain/due-order.ts";
import { dueRetention } from "../src/domain/due-retention.ts";
import { recomputeOwnDue } from "../src/store/basis.ts";
import {
  DUE_TABLES,
  type DueTable,
  dueTablesValues,
  findDueTables,
} from "../src/store/due-tables.ts";
import { loadTableFacts } from "../src/store/table-facts.ts";
import { someEnvironment, someTable, tableChange } from "./lab/changes.ts";
import { type LabDatabase, labDatabase } from "./lab/database.ts";

let db: LabDatabase;
beforeAll(async () => {
  db = await labDatabase("due tables");
});
afterAll(() => db.close());
beforeEach(() => db.clear());

/** A fixed present: far enough from the beginning of time for every rule to have had its chance. */
const NOW = new Date("2026-07-15T12:00:00.000Z");
const DAY = 86_400_000;
const ago = (days: number) => new Date(NOW.getTime() - days * DAY);

/** Instants around the ones on which something turns, so that equalities occur. */
const instant = fc
  .record({ days: fc.integer({ min: 0, max: 12 }), ms: fc.constantFrom(-1, 0, 1) })
  .map(({ days, ms }) => new Date(NOW.getTime() - days * DAY + ms));

const setting = instant.map((setAt) => ({ setBy: "ana", setAt }));
const tableRule = fc.oneof(
  fc.constant(null),
  fc
    .tuple(fc.integer({ min: 1, max: 10 }), setting)
    .map(([days, set]) => ({ kind: "days" as const, days, ...set })),
  fc.tuple(fc.integer({ min: -6, max: 6 }), setting).map(([days, set]) => ({
    kind: "on" as const,
    on: ago(days).toISOString().slice(0, 10),
    ...set,
  })),
  setting.map((set) => ({ kind: "never" as const, ...set })),
);
const environmentRule = fc.option(
  fc.tuple(fc.integer({ min: 1, max: 10 }), setting).map(([days, set]) => ({ days, ...set })),
);
const environment = fc.record({
  protected: fc.boolean(),
  deleted: fc.boolean(),
  rule: environmentRule,
});
const table = fc.record({
  place: fc.nat({ max: 2 }),
  kind: fc.constantFrom(
    "managed" as const,
    "managed" as const,
    "managed" as const,
    "view" as const,
  ),
  state: fc.constantFrom(
    "live" as const,
    "live" as const,
    "live" as const,
    "staged" as const,
    "dropped" as const,
  ),
  projectAsset: fc.boolean(),
  lastChangedAt: instant,
  restoredAt: fc.option(instant),
  rule: tableRule,
});
const world = fc.record({
  environments: fc.array(environment, { minLength: 3, maxLength: 3 }),
  tables: fc.array(table, { minLength: 1, maxLength: 25 }),
  floor: fc.option(instant),
  daySeconds: fc.constantFrom(86_400, 43_200),
  page: fc.integer({ min: 1, max: 7 }),
});

interface World {
  readonly environments: readonly {
    protected: boolean;
    deleted: boolean;
    rule: { days: number; setBy: string; setAt: Date } | null;
  }[];
  readonly tables: readonly (Pick<
    TableSnapshot,
    "kind" | "state" | "projectAsset" | "lastChangedAt" | "restoredAt"
  > & {
    place: number;
    rule: Parameters<typeof foldPolicy>[1][number]["table"] extends { rule: infer R } | undefined
      ? R
      : never;
  })[];
  readonly floor: Date | null;
  readonly daySeconds: number;
}

/** Folds the world, and gives the ids of its tables. */
async function build({
  environments,
  tables,
  floor,
  daySeconds,
}: World): Promise<readonly string[]> {
  await db.clear();
  const snapshots: EnvironmentSnapshot[] = environments.map((each, index) =>
    someEnvironment({ protected: each.protected, deleted: each.deleted, name: `env${index}` }),
  );
  const rows = tables.map(({ place, rule: _, ...facts }) =>
    someTable({
      ...facts,
      createdAt: ago(20),
      environmentId: snapshots[place]?.environmentId ?? "",
    }),
  );
  await withTransaction(db.pool, async (tx) => {
    await tx.query(`update evaluation_basis set signal_floor_at = $1, day_seconds = $2`, [
      floor,
      daySeconds,
    ]);
    await foldCatalog(tx, [
      ...snapshots.map((each) => ({ environment: each })),
      ...rows.map(tableChange),
    ]);
    await foldPolicy(tx, [
      ...rows.map(({ tableId }, index) => ({
        table: { tableId, rule: tables[index]?.rule ?? null, version: 1n, sequence: 1n },
      })),
      ...snapshots.map(({ environmentId }, index) => ({
        environment: { environmentId, rule: environments[index]?.rule ?? null, version: 1n },
      })),
    ]);
  });
  return rows.map(({ tableId }) => tableId);
}

const find = (
  horizon: Date,
  limit: number,
  cursor: DueCursor = new Map(),
  environmentId?: string,
) =>
  withTransaction(db.pool, (tx) =>
    findDueTables(tx, {
      horizon,
      limit,
      cursor,
      ...(environmentId !== undefined && { environmentId }),
    }),
  );

async function findInPages(horizon: Date, page: number): Promise<DueTable[]> {
  const all: DueTable[] = [];
  let cursor: DueCursor = new Map();
  for (;;) {
    const found = await find(horizon, page, cursor);
    all.push(...found);
    if (found.length < page) return all;
    cursor = advance(
      cursor,
      found.map(({ place }) => place),
    );
  }
}

describe("findDueTables", () => {
  test("T8 T9 T15 T19 T20 T22 T24 T28 picks what the arithmetic of the rules calls due, no more and no less, most overdue first", async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ page, ...given }) => {
        const ids = await build(given);
        const facts = await loadTableFacts(db.pool, ids);
        const due = facts.flatMap((each) => {
          const retention = dueRetention(each, NOW);
          return retention === null
            ? []
            : [{ id: each.tableId, at: retention.expiredAt.getTime() }];
        });
        const all = await find(NOW, 1_000);
        const picked = all.map(({ facts: each }) => each.tableId);
        expect([...picked].sort()).toEqual(due.map(({ id }) => id).sort());

        const times = all.map(
          ({ facts: each }) => dueRetention(each, NOW)?.expiredAt.getTime() ?? Number.NaN,
        );
        expect(times).toEqual([...times].sort((a, b) => a - b));

        const paged = (await findInPages(NOW, page)).map(({ facts: each }) => each.tableId);
        expect(paged).toEqual(picked);
      }),
      { numRuns: 150 },
    );
  });

  test("the due times by own rules are the same whether folded one by one or computed anew in one statement", async () => {
    await fc.assert(
      fc.asyncProperty(
        world,
        fc.option(instant),
        fc.constantFrom(86_400, 3_600),
        async (given, floor, daySeconds) => {
          await build(given);
          await withTransaction(db.pool, async (tx) => {
            await tx.query(`update evaluation_basis set signal_floor_at = $1, day_seconds = $2`, [
              floor,
              daySeconds,
            ]);
            await recomputeOwnDue(tx);
          });
          const { rows: computed } = await db.pool.query(
            `select table_id, own_due_at from table_state order by table_id`,
          );
          const { rows: expected } = await db.pool.query(`
          select table_id, own_due_at(rule_kind, rule_days, rule_on, last_activity_at, signal_floor_at, day_seconds)::timestamptz(3) as own_due_at
          from table_state cross join evaluation_basis order by table_id`);
          expect(computed).toEqual(expected);
        },
      ),
      { numRuns: 20 },
    );
  });

  test("T24 a table whose activity moves while a list is paged is not skipped, nor are its neighbours", async () => {
    const environment = someEnvironment();
    const tables = [5, 4, 3, 2].map((days, index) =>
      someTable({
        environmentId: environment.environmentId,
        createdAt: ago(30 + days),
        name: `t${index}`,
      }),
    );
    await withTransaction(db.pool, async (tx) => {
      await foldCatalog(tx, [{ environment }, ...tables.map(tableChange)]);
      await foldPolicy(tx, [
        {
          environment: {
            environmentId: environment.environmentId,
            rule: { days: 10, setBy: "ana", setAt: ago(100) },
            version: 1n,
          },
        },
      ]);
    });
    const first = await find(NOW, 2);
    const cursor = advance(
      new Map(),
      first.map(({ place }) => place),
    );
    const [moved] = first;
    await withTransaction(db.pool, (tx) =>
      foldCatalog(tx, [
        {
          activities: [{ tableId: moved?.facts.tableId ?? "", kind: "read", at: ago(1).getTime() }],
        },
      ]),
    );
    const second = await find(NOW, 2, cursor);
    expect(second.map(({ facts }) => facts.name)).toEqual(["t2", "t3"]);
  });

  test("T33 reads two indexes per environment, whatever the size of the table", async () => {
    await db.pool.query(
      `insert into environment_state (environment_id, tenant, name, protected, change_version, retention_days, retention_set_by, retention_set_at, policy_version)
       select md5('e' || g)::uuid, 'local', 'e' || g, false, 1, 30, 'ana', now() - interval '400 days', 1 from generate_series(0, 4) g`,
    );
    await db.pool.query(
      `insert into table_state (table_id, environment_id, kind, state, change_version, last_activity_at, last_activity_kind, rule_kind, rule_days, rule_set_by, rule_set_at, own_due_at, expires_by, folded_at)
       select md5('t' || g)::uuid, md5('e' || g % 5)::uuid, 'managed', 'live', 1, at, 'read',
         case when own then 'days' end, case when own then 30 end, case when own then 'ana' end, case when own then at end,
         case when own then at + interval '720 hours' end, case when own then 'table' else 'environment' end, now()
       from (select g, now() - random() * interval '33 days' as at, g % 10 = 0 as own from generate_series(1, 50000) g) x`,
    );
    const query = { horizon: new Date(), limit: 100, cursor: new Map() };
    const plan = await withTransaction(db.pool, async (tx) => {
      // Leaves the settings of the planner as they are for the query itself, without statistics of these tables.
      await findDueTables(tx, query);
      const { rows } = await tx.query(`explain ${DUE_TABLES}`, dueTablesValues(query, 16));
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    });
    expect(plan).toMatch(/Index (Only )?Scan using table_state_due_by_own_rule/);
    expect(plan).toMatch(/Index (Only )?Scan using table_state_due_by_environment/);
    expect(plan).not.toMatch(/Scan on table_state|Sort Key: t\.(own_due|last_activity)/);
  });
});
