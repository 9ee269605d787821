import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createLogger, createPool, databaseClock, fixedClock, withTransaction } from "@lapse/kit";
import { waitFor } from "@lapse/test-kit";
import { type Database, endConnections, openDatabase, silent } from "./database.ts";

let database: Database;
beforeAll(async () => {
  database = await openDatabase({ name: "kit-postgres" });
});
afterAll(() => database.close());

const one = async (expression: string, values: unknown[] = []) => {
  const { rows } = await database.pool.query(`select ${expression} as value`, values);
  return rows[0].value;
};

describe("values", () => {
  test.each<[string, unknown]>([
    ["9223372036854775807::int8", 9_223_372_036_854_775_807n],
    ["array[1, null, 9007199254740993]::int8[]", [1n, null, 9_007_199_254_740_993n]],
    ["count(*)", 1n],
    ["date '2026-12-31'", "2026-12-31"],
    ["array[date '2026-12-31', null]", ["2026-12-31", null]],
    ["timestamp '2026-12-31 23:59:59'", "2026-12-31 23:59:59"],
    ["12345678901234567890.123456789::numeric", "12345678901234567890.123456789"],
    ["array[1.10, 2.20]::numeric[]", ["1.10", "2.20"]],
    ["timestamptz '2026-12-31 23:59:59.123Z'", new Date("2026-12-31T23:59:59.123Z")],
    ["7::int4", 7],
    ["null::int8", null],
  ])("%s is read without loss", async (expression, value) => {
    expect(await one(expression)).toEqual(value);
  });

  test("a date is the same in whatever zone the process runs", async () => {
    const before = process.env.TZ;
    try {
      for (const zone of ["Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kolkata"]) {
        process.env.TZ = zone;
        expect(await one("date '2026-03-29'")).toBe("2026-03-29");
        const instant = new Date("2026-03-29T01:30:00.250Z");
        expect(await one("$1::timestamptz", [instant])).toEqual(instant);
        expect(await one("$1::timestamptz::text", [instant])).toBe("2026-03-29 01:30:00.25+00");
      }
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  test("a bigint goes in as it is", async () => {
    expect(await one("$1::int8", [9_223_372_036_854_775_807n])).toBe(9_223_372_036_854_775_807n);
    expect(await one("$1::int8[]", [[1n, 2n]])).toEqual([1n, 2n]);
  });
});

describe("a session", () => {
  test.each([
    ["timezone", "UTC"],
    ["application_name", "kit-postgres"],
    ["statement_timeout", "30s"],
    ["idle_in_transaction_session_timeout", "1min"],
  ])("has %s %s", async (name, value) => {
    expect(await one(`current_setting('${name}')`)).toBe(value);
  });

  test("keeps the options its URL asks for, and what the URL sets wins", async () => {
    const url = new URL(database.url);
    url.searchParams.set("options", "-c work_mem=7MB");
    url.searchParams.set("statement_timeout", "1234");
    const pool = createPool({ url: url.href, applicationName: "x", log: silent });
    const { rows } = await pool.query(
      `select current_setting('work_mem') as work_mem, current_setting('timezone') as zone,
              current_setting('statement_timeout') as statement_timeout`,
    );
    expect(rows).toEqual([{ work_mem: "7MB", zone: "UTC", statement_timeout: "1234ms" }]);
    await pool.end();
  });

  test("ends a statement that takes too long, and goes on", async () => {
    const { url } = database;
    const pool = createPool({ url, applicationName: "x", log: silent, statementTimeoutMs: 50 });
    await expect(pool.query("select pg_sleep(30)")).rejects.toMatchObject({ code: "57014" });
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});

describe("a connection that dies", () => {
  test("while it is idle is logged and replaced", async () => {
    const lines: string[] = [];
    const log = createLogger({ service: "x", destination: { write: (line) => lines.push(line) } });
    const pool = createPool({ url: database.url, applicationName: "x", log });
    await pool.query("select 1");
    await endConnections(database.pool);
    await waitFor(() => lines.length > 0);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      level: "warn",
      msg: "a database connection was lost",
    });
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test("while it is in use fails its work and nothing else", async () => {
    const pool = createPool({ url: database.url, applicationName: "x", log: silent });
    const client = await pool.connect();
    await endConnections(database.pool);
    await expect(client.query("select 1")).rejects.toThrow();
    client.release(true);
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});

describe("the clock", () => {
  test("is the database's, in whole milliseconds", async () => {
    const before = (await one("now()")) as Date;
    const now = await databaseClock(database.pool).now();
    const after = (await one("now()")) as Date;
    expect(now.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(now.getTime()).toBeLessThanOrEqual(after.getTime() + 1);
  });

  test("is never behind a time that was stored before", async () => {
    await database.pool.query("create table moment (at timestamptz(3) not null default now())");
    for (let i = 0; i < 200; i++) {
      const { rows } = await database.pool.query("insert into moment default values returning at");
      const now = await databaseClock(database.pool).now();
      expect(now.getTime()).toBeGreaterThanOrEqual(rows[0].at.getTime());
    }
  });

  test("stands still within a transaction", async () => {
    await withTransaction(database.pool, async (tx) => {
      const clock = databaseClock(tx);
      const first = await clock.now();
      await tx.query("select pg_sleep(0.02)");
      expect(await clock.now()).toEqual(first);
    });
  });

  test("can be set for a test", async () => {
    const at = new Date("2026-12-31T00:00:00Z");
    expect(await fixedClock(at).now()).toEqual(at);
    let moving = at;
    const clock = fixedClock(() => moving);
    moving = new Date("2027-01-01T00:00:00Z");
    expect(await clock.now()).toEqual(moving);
  });
});
