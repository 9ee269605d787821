import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { type Queryable, withTransaction } from "@lapse/kit";
import fc from "fast-check";
import { foldActivity } from "../src/app/fold-activity.ts";
import { foldCatalog } from "../src/app/fold-catalog.ts";
import { foldPolicy } from "../src/app/fold-policy.ts";
import type { ActivityMessage } from "../src/domain/activity-message.ts";
import { idText } from "../src/domain/packed-activities.ts";
import {
  bigintArray,
  dateArray,
  textArray,
  timestampArray,
  uuidArray,
} from "../src/store/array-parameters.ts";
import { findDueTables } from "../src/store/due-tables.ts";
import { mergeAfterMs } from "../src/store/read-days.ts";
import { loadTableFacts } from "../src/store/table-facts.ts";
import { deleteReadsBefore, listDailyReads, listReadSources } from "../src/store/table-reads.ts";
import { someEnvironment, someTable, tableChange } from "./lab/changes.ts";
import { type LabDatabase, labDatabase } from "./lab/database.ts";

let db: LabDatabase;
jest.setTimeout(60_000);
beforeAll(async () => {
  db = await labDatabase("reads");
});
afterAll(() => db.close());
beforeEach(() => db.clear());

const NOON = Date.parse("2026-03-10T12:00:00Z");
const DAY = 86_400_000;
const MERGE_AFTER_MS = mergeAfterMs({ daySeconds: 86_400 });

/** A live table that expires after ten days by the rule of its environment. */
async function aTable(): Promise<string> {
  const environment = someEnvironment();
  const table = someTable({ environmentId: environment.environmentId });
  const rule = { days: 10, setBy: "ana", setAt: new Date("2026-01-01T00:00:00Z") };
  await withTransaction(db.pool, async (tx) => {
    await foldCatalog(tx, [{ environment }, tableChange(table)]);
    const { environmentId } = environment;
    await foldPolicy(tx, [{ environment: { environmentId, rule, version: 1n } }]);
  });
  return table.tableId;
}

const read = (tableId: string, at: number, source = "trino") => fold("read", tableId, at, source);
const fold = (kind: ActivityMessage["kind"], tableId: string, at: number, source = "") => {
  const activities = [{ tableId, table: null, occurredAt: at, source }];
  const message = { kind, storedAt: at, sender: "", activities };
  return withTransaction(db.pool, (tx) => foldActivity(tx, [message], async () => undefined));
};

const lastActivity = async (tableId: string) => {
  const [facts] = await loadTableFacts(db.pool, [tableId]);
  return { kind: facts?.lastActivityKind, at: facts?.lastActivityAt?.getTime() };
};
async function rewritten(tx: Queryable) {
  const { rows } = await tx.query<{ tables: number; days: number; daysInPlace: number }>(
    `select
       sum(n_tup_upd) filter (where relname = 'table_state')::integer as tables,
       sum(n_tup_upd) filter (where relname = 'table_read_day')::integer as days,
       sum(n_tup_hot_upd) filter (where relname = 'table_read_day')::integer as "daysInPlace"
     from pg_stat_xact_user_tables`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the server counts nothing");
  return row;
}

/** As the indexes know it. */
const told = async (tableId: string) => {
  const { rows } = await db.pool.query<{ at: Date }>(
    `select last_activity_at as at from table_state where table_id = $1`,
    [tableId],
  );
  return rows[0]?.at.getTime();
};
const due = (at: number) =>
  withTransaction(db.pool, (tx) =>
    findDueTables(tx, { horizon: new Date(at), limit: 10, cursor: new Map() }),
  );

describe("reads", () => {
  test("T13 the last is known exactly, though the indexes are told of many at once", async () => {
    const table = await aTable();
    await read(table, NOON);
    expect(await told(table)).toBe(NOON);
    await read(table, NOON + 10_000);
    expect(await told(table)).toBe(NOON);
    expect(await lastActivity(table)).toEqual({ kind: "read", at: NOON + 10_000 });
    await read(table, NOON + MERGE_AFTER_MS);
    expect(await told(table)).toBe(NOON + MERGE_AFTER_MS);
  });

  test("T13 the indexes never lag further behind than said, in whatever order reads come", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            at: fc.integer({ min: 0, max: 4 * MERGE_AFTER_MS }),
            source: fc.constantFrom("trino", "spark"),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        async (reads) => {
          const table = await aTable();
          let last = 0;
          for (const { at, source } of reads) {
            // Around midnight, so that they fall on two days.
            const time = NOON + DAY / 2 - 2 * MERGE_AFTER_MS + at;
            last = Math.max(last, time);
            await read(table, time, source);
            expect(await lastActivity(table)).toEqual({ kind: "read", at: last });
            const known = (await told(table)) ?? 0;
            expect(known).toBeLessThanOrEqual(last);
            expect(known).toBeGreaterThanOrEqual(last - MERGE_AFTER_MS);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test("T34 a read after the first rewrites one small row where it lies: no index, and not the table's row", async () => {
    const tableId = await aTable();
    /** What a fold rewrites; the server counts for the session, so both ends are in one transaction. */
    const rewrittenBy = (at: number) =>
      withTransaction(db.pool, async (tx) => {
        const before = await rewritten(tx);
        const activities = [{ tableId, table: null, occurredAt: at, source: "trino" }];
        const message = { kind: "read", storedAt: at, sender: "", activities } as const;
        await foldActivity(tx, [message], async () => undefined);
        const after = await rewritten(tx);
        return {
          tables: after.tables - before.tables,
          days: after.days - before.days,
          daysInPlace: after.daysInPlace - before.daysInPlace,
        };
      });
    expect(await rewrittenBy(NOON)).toEqual({ tables: 1, days: 0, daysInPlace: 0 });
    expect(await rewrittenBy(NOON + 1_000)).toEqual({ tables: 0, days: 1, daysInPlace: 1 });
    expect(await rewrittenBy(NOON + MERGE_AFTER_MS + 2_000)).toMatchObject({ tables: 1 });
  });

  test("T15 a table read since the indexes were told is not due by what they say", async () => {
    const table = await aTable();
    await read(table, NOON);
    const expiry = NOON + 10 * DAY;
    expect((await due(expiry)).map(({ facts }) => facts.tableId)).toEqual([table]);
    await read(table, NOON + 10_000);
    expect(await told(table)).toBe(NOON);
    expect(await due(expiry)).toEqual([]);
    expect((await due(expiry + 10_000)).map(({ facts }) => facts.tableId)).toEqual([table]);
  });

  test("T13 a write after them is the last activity, and a read after that", async () => {
    const table = await aTable();
    await read(table, NOON);
    await fold("written", table, NOON + 1_000);
    expect(await lastActivity(table)).toEqual({ kind: "written", at: NOON + 1_000 });
    await read(table, NOON + 2_000);
    expect(await lastActivity(table)).toEqual({ kind: "read", at: NOON + 2_000 });
  });

  test("T17 T18 what is deleted of their history takes along neither the last read nor who reported it", async () => {
    const table = await aTable();
    await read(table, NOON, "trino");
    await read(table, NOON + 10_000, "trino");
    await read(table, NOON + 5_000, "spark");
    const sources = await listReadSources(db.pool, table, 10);
    expect(sources).toEqual([
      { source: "trino", lastReportedAt: new Date(NOON + 10_000) },
      { source: "spark", lastReportedAt: new Date(NOON + 5_000) },
    ]);
    expect(await deleteReadsBefore(db.pool, { day: "2026-03-11", limit: 100 })).toBe(2);
    expect(await listDailyReads(db.pool, table, 10)).toEqual([]);
    expect(await listReadSources(db.pool, table, 10)).toEqual(sources);
    expect(await lastActivity(table)).toEqual({ kind: "read", at: NOON + 10_000 });
  });
});

test("arrays in binary arrive as they were given", async () => {
  const row = fc.record({
    id: fc.tuple(...Array.from({ length: 4 }, () => fc.integer())),
    text: fc.string({ unit: "binary" }).filter((value) => !value.includes("\0")),
    day: fc.integer({ min: -700_000, max: 2_900_000 }),
    ms: fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
    count: fc.maxSafeInteger(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 5 }), async (given) => {
      const { rows } = await (db.pool as Queryable).query(
        `select a.id, a.text, (a.day - '1970-01-01'::date) as day, extract(epoch from a.at) * 1000 as ms, a.count
         from unnest($1::uuid[], $2::text[], $3::date[], $4::timestamptz[], $5::bigint[]) as a (id, text, day, at, count)`,
        [
          uuidArray(Int32Array.from(given.flatMap(({ id }) => id))),
          textArray(
            Uint32Array.from(given.keys()),
            given.map(({ text }) => text),
          ),
          dateArray(Int32Array.from(given, ({ day }) => day)),
          timestampArray(Float64Array.from(given, ({ ms }) => ms)),
          bigintArray(Float64Array.from(given, ({ count }) => count)),
        ],
      );
      expect(rows.map((each) => ({ ...each, ms: Number(each.ms) }))).toEqual(
        given.map(({ id, text, day, ms, count }) => ({
          id: idText(Int32Array.from(id)),
          text,
          day,
          ms,
          count: BigInt(count),
        })),
      );
    }),
    { numRuns: 100 },
  );
});
