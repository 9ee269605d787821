import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { newId, withTransaction } from "@lapse/kit";
import { adoptDayLength } from "../src/app/adopt-day-length.ts";
import { cleanUp } from "../src/app/clean-up.ts";
import { foldActivity } from "../src/app/fold-activity.ts";
import { foldCatalog } from "../src/app/fold-catalog.ts";
import { foldPolicy } from "../src/app/fold-policy.ts";
import { tableExpiry } from "../src/domain/table-expiry.ts";
import { loadTableFacts } from "../src/store/table-facts.ts";
import { deleteReadsBefore } from "../src/store/table-reads.ts";
import { someEnvironment, someTable, tableChange } from "./lab/changes.ts";
import { type LabDatabase, labDatabase } from "./lab/database.ts";

let db: LabDatabase;
jest.setTimeout(60_000);
beforeAll(async () => {
  db = await labDatabase("clean up");
});
afterAll(() => db.close());
beforeEach(() => db.clear());

const DAY = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY);
const clean = (readDays = 90, daySeconds = 86_400) =>
  cleanUp(db.pool, { readDays, daySeconds }, new AbortController().signal);
const count = async (table: string) => {
  const { rows } = await db.pool.query<{ n: bigint }>(`select count(*) as n from ${table}`);
  return Number(rows[0]?.n);
};
const readOn = (tableId: string, days: number, times = 1) =>
  withTransaction(db.pool, (tx) =>
    foldActivity(
      tx,
      [
        {
          kind: "read",
          storedAt: 0,
          sender: "trino",
          activities: Array.from({ length: times }, () => ({
            tableId,
            table: null,
            occurredAt: daysAgo(days).getTime(),
            source: "",
          })),
        },
      ],
      async () => undefined,
    ),
  );
const live = async (createdDaysAgo = 400) => {
  const environment = someEnvironment();
  const at = daysAgo(createdDaysAgo);
  const table = someTable({ environmentId: environment.environmentId, createdAt: at });
  await withTransaction(db.pool, (tx) => foldCatalog(tx, [{ environment }, tableChange(table)]));
  return table;
};

describe("cleaning up", () => {
  test("T17 deletes the reads of days past the keeping time; the last read is remembered for good", async () => {
    const { tableId } = await live();
    await readOn(tableId, 200, 3);
    await withTransaction(db.pool, (tx) =>
      foldPolicy(tx, [
        {
          table: {
            tableId,
            rule: { kind: "days", days: 300, setBy: "ana", setAt: daysAgo(390) },
            version: 1n,
            sequence: 1n,
          },
        },
      ]),
    );
    await clean();
    expect(await count("table_read_day")).toBe(0);
    expect(await count("table_read_source")).toBe(1);
    const [facts] = await loadTableFacts(db.pool, [tableId]);
    // Without that read it would have expired 100 days ago.
    const expiresAt = facts && tableExpiry(facts).expiresAt;
    expect(Math.abs((expiresAt?.getTime() ?? 0) - daysAgo(-100).getTime())).toBeLessThan(60_000);
  });

  test("T17 keeps the reads of the days within the keeping time", async () => {
    const { tableId } = await live();
    for (const days of [1, 89, 92]) await readOn(tableId, days);
    await clean();
    expect(await count("table_read_day")).toBe(2);
  });

  test("deletes in steps, each of a bounded size", async () => {
    const { tableId } = await live();
    for (let days = 100; days < 107; days++) await readOn(tableId, days);
    const day = new Date().toISOString().slice(0, 10);
    expect(await deleteReadsBefore(db.pool, { day, limit: 3 })).toBe(3);
    expect(await count("table_read_day")).toBe(4);
  });

  test("forgets after a week the tables that are purged or were never heard of, with their history, and no others", async () => {
    const known = await live();
    const purged = await live();
    await withTransaction(db.pool, (tx) =>
      foldCatalog(tx, [tableChange({ ...purged, state: "purged", version: 5n })]),
    );
    const unknown = newId();
    await readOn(unknown, 10);
    await clean();
    expect(await count("table_state")).toBe(3);

    await db.pool.query(`update table_state set folded_at = now() - interval '8 days'`);
    await clean();
    const { rows } = await db.pool.query(`select table_id from table_state`);
    expect(rows).toEqual([{ table_id: known.tableId }]);
    expect(await count("table_read_day")).toBe(0);
    expect(await count("table_read_source")).toBe(0);
  });

  test("deletes the records of sweeps after 90 days, with what became of their tables", async () => {
    const record = async (days: number) => {
      const sweepId = newId();
      await db.pool.query(
        `insert into sweep (sweep_id, status, tenant, started_at, finished_at) values ($1, 'completed', '*', $2, $2)`,
        [sweepId, daysAgo(days)],
      );
      await db.pool.query(
        `insert into sweep_candidate (sweep_id, table_id, tenant, name, issued_at) values ($1, $2, 'local', 'n', now())`,
        [sweepId, newId()],
      );
      return sweepId;
    };
    for (let days = 91; days < 104; days++) await record(days);
    const kept = await record(89);
    await clean();
    const { rows } = await db.pool.query(`select sweep_id from sweep_candidate`);
    expect(rows).toEqual([{ sweep_id: kept }]);
    expect(await count("sweep")).toBe(1);
  });

  test("T26 deletes holds of the breaker that ended 90 days ago, and none that is open", async () => {
    const hold = (tenant: string, ended: number | null) =>
      db.pool.query(
        `insert into sweep_hold (hold_id, tenant, kind, environment_id, environment, horizon, due, tables, share, raised_at, ended_at)
         values ($1, $2, 'breaker', gen_random_uuid(), 'dev', $3, 20, 25, 0.5, $3, $4)`,
        [newId(), tenant, daysAgo(200), ended === null ? null : daysAgo(ended)],
      );
    await hold("old", 91);
    await hold("late", 89);
    await hold("open", null);
    await clean();
    const { rows } = await db.pool.query(`select tenant from sweep_hold order by tenant`);
    expect(rows).toEqual([{ tenant: "late" }, { tenant: "open" }]);
  });
});

describe("adoptDayLength", () => {
  test("a day of another length moves what tables' own days come to, and nothing else", async () => {
    const days = await live(10);
    const on = await live(10);
    const rule = { setBy: "ana", setAt: daysAgo(9) };
    await withTransaction(db.pool, (tx) =>
      foldPolicy(tx, [
        {
          table: {
            tableId: days.tableId,
            rule: { kind: "days", days: 30, ...rule },
            version: 1n,
            sequence: 1n,
          },
        },
        {
          table: {
            tableId: on.tableId,
            rule: { kind: "on", on: "2099-05-01", ...rule },
            version: 1n,
            sequence: 1n,
          },
        },
      ]),
    );
    const dueOf = async ({ tableId }: { tableId: string }) => {
      const { rows } = await db.pool.query<{ own_due_at: Date }>(
        `select own_due_at from table_state where table_id = $1`,
        [tableId],
      );
      return rows[0]?.own_due_at;
    };
    expect(await adoptDayLength(db.pool, 86_400)).toBe(0);
    const before = await dueOf(days);
    expect(await adoptDayLength(db.pool, 60)).toBeGreaterThan(0);
    const [facts] = await loadTableFacts(db.pool, [days.tableId]);
    expect(await dueOf(days)).toEqual(facts && tableExpiry(facts).expiresAt);
    expect(await dueOf(days)).not.toEqual(before);
    expect(await dueOf(on)).toEqual(new Date("2099-05-01T00:00:00Z"));
    expect(await adoptDayLength(db.pool, 60)).toBe(0);
  });

  test("waits for a fold under way, whose tables it would miss", async () => {
    const { tableId, environmentId } = await live(10);
    let adopted: Promise<number> | undefined;
    await withTransaction(db.pool, async (tx) => {
      const late = someTable({ environmentId, createdAt: daysAgo(5) });
      await foldCatalog(tx, [tableChange(late)]);
      adopted = adoptDayLength(db.pool, 3_600);
      await foldPolicy(tx, [
        {
          table: {
            tableId: late.tableId,
            rule: { kind: "days", days: 2, setBy: "ana", setAt: daysAgo(5) },
            version: 1n,
            sequence: 1n,
          },
        },
      ]);
    });
    expect(await adopted).toBeGreaterThan(0);
    const { rows } = await db.pool.query<{ due: Date; expected: Date }>(
      `select own_due_at as due, last_activity_at + interval '2 hours' as expected from table_state where table_id <> $1`,
      [tableId],
    );
    expect(rows[0]?.due).toEqual(rows[0]?.expected);
  });
});
