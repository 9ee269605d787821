import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createPool, type Pool, type Queryable, withTransaction } from "@lapse/kit";
import { foldCatalog } from "../src/app/fold-catalog.ts";
import { foldPolicy } from "../src/app/fold-policy.ts";
import { recomputeOwnDue } from "../src/store/basis.ts";
import { findDueTables } from "../src/store/due-tables.ts";
import { someEnvironment, someTable, tableChange } from "./lab/changes.ts";
import { type LabDatabase, labDatabase, quiet } from "./lab/database.ts";

let db: LabDatabase;
beforeAll(async () => {
  db = await labDatabase("time zone");
});
afterAll(() => db.close());
beforeEach(() => db.clear());

const ZONES = ["UTC", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe"];

/** Last activity, days and expiry in UTC: each spans a change of the clocks somewhere in {@link ZONES}. */
const ACROSS_A_CHANGE = [
  ["2026-03-07T12:00:00.000Z", 1, "2026-03-08T12:00:00.000Z"],
  ["2026-03-08T06:59:59.999Z", 1, "2026-03-09T06:59:59.999Z"],
  ["2026-11-01T05:30:00.000Z", 1, "2026-11-02T05:30:00.000Z"],
  ["2026-10-03T15:29:59.999Z", 1, "2026-10-04T15:29:59.999Z"],
] as const;

const SET = { setBy: "ana", setAt: new Date("2026-01-01T00:00:00.000Z") };

const inZone = <T>(pool: Pool, zone: string, work: (tx: Queryable) => Promise<T>): Promise<T> =>
  withTransaction(pool, async (tx) => {
    await tx.query(`select set_config('timezone', $1, true)`, [zone]);
    return work(tx);
  });

/** The tables that are due at an instant, as a session of that zone sees it. */
const dueAt = (pool: Pool, zone: string, at: Date) =>
  inZone(pool, zone, async (tx) => {
    const found = await findDueTables(tx, { horizon: at, limit: 10, cursor: new Map() });
    return found.map(({ facts }) => facts.name).sort();
  });

/** One table by a rule of its own, one by its environment's, one by a day of the calendar. */
async function store(zone: string, active: string, days: number, on: string): Promise<void> {
  const environment = someEnvironment();
  const { environmentId } = environment;
  const tables = ["by day", "by environment", "by own rule"].map((name) =>
    someTable({ environmentId, name, createdAt: new Date(active) }),
  );
  const [byDay, , byOwn] = tables;
  const own = { version: 1n, sequence: 1n };
  await inZone(db.pool, zone, async (tx) => {
    await foldCatalog(tx, [{ environment }, ...tables.map(tableChange)]);
    await foldPolicy(tx, [
      { environment: { environmentId, rule: { days, ...SET }, version: 1n } },
      { table: { tableId: byOwn?.tableId ?? "", rule: { kind: "days", days, ...SET }, ...own } },
      { table: { tableId: byDay?.tableId ?? "", rule: { kind: "on", on, ...SET }, ...own } },
    ]);
  });
}

describe.each(ZONES)("a session in %s", (zone) => {
  test.each(ACROSS_A_CHANGE)(
    "T4 T8 calls a table used at %s with %d days due at %s, not a millisecond before",
    async (active, days, expires) => {
      await store(zone, active, days, "2027-01-01");
      const at = new Date(expires);
      const before = new Date(at.getTime() - 1);
      expect(await dueAt(db.pool, zone, before)).toEqual([]);
      expect(await dueAt(db.pool, zone, at)).toEqual(["by environment", "by own rule"]);
    },
  );

  test.each(["2026-03-08", "2026-11-01", "2026-04-05"])(
    "T4 calls a table due on %s at midnight UTC, not a millisecond before",
    async (on) => {
      await store(zone, "2026-01-01T00:00:00.000Z", 3_000, on);
      const midnight = new Date(`${on}T00:00:00.000Z`);
      expect(await dueAt(db.pool, zone, new Date(midnight.getTime() - 1))).toEqual([]);
      expect(await dueAt(db.pool, zone, midnight)).toEqual(["by day"]);
    },
  );
});

describe("the zone of the database", () => {
  test("T4 changed while rules are stored moves no expiry, neither as stored nor computed anew", async () => {
    await store("UTC", "2026-03-07T12:00:00.000Z", 1, "2026-11-01");
    const stored = async () =>
      (await db.pool.query(`select name, own_due_at from table_state order by name`)).rows;
    const before = await stored();
    const { rows } = await db.pool.query<{ name: string }>(`select current_database() as name`);
    await db.pool.query(`alter database "${rows[0]?.name}" set timezone = 'America/New_York'`);
    const later = createPool({ url: db.url, applicationName: "later", log: quiet });
    try {
      const { rows: zones } = await later.query(`show timezone`);
      expect(zones).toEqual([{ TimeZone: "UTC" }]);
      await inZone(later, "America/New_York", recomputeOwnDue);
      expect(await stored()).toEqual(before);
      const due = new Date("2026-03-08T12:00:00.000Z");
      expect(await dueAt(later, "America/New_York", due)).toEqual([
        "by environment",
        "by own rule",
      ]);
      expect(await dueAt(later, "America/New_York", new Date(due.getTime() - 1))).toEqual([]);
    } finally {
      await later.end();
    }
  });

  test("T4 would move a day and a midnight that were counted in it", async () => {
    const { rows } = await inZone(db.pool, "America/New_York", (tx) =>
      tx.query<{ days: Date; midnight: Date }>(
        `select '2026-03-07T12:00:00Z'::timestamptz + interval '1 day' as days,
           '2026-11-01'::timestamptz as midnight`,
      ),
    );
    expect(rows).toEqual([
      { days: new Date("2026-03-08T11:00:00Z"), midnight: new Date("2026-11-01T04:00:00Z") },
    ]);
  });
});
