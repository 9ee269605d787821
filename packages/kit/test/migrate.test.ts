import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { migrate } from "@lapse/kit";
import { type Database, openDatabase, silent } from "./database.ts";

let database: Database;
let directory: string;
beforeEach(async () => {
  database = await openDatabase({ name: "kit-migrate" });
  directory = mkdtempSync(join(tmpdir(), "lapse-migrations-"));
});
afterEach(async () => {
  rmSync(directory, { recursive: true });
  await database.close();
});

const file = (name: string, sql: string) => writeFileSync(join(directory, name), sql);
const run = () => migrate({ pool: database.pool, directory, log: silent });
const tables = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ name: string }>(
    "select tablename::text as name from pg_tables where schemaname in ('public', 'lapse_kit') order by 1",
  );
  return rows.map(({ name }) => name);
};
const version = async (table: string): Promise<bigint> => {
  const { rows } = await database.pool.query(`select max(version) as version from ${table}`);
  return rows[0].version;
};

describe("migrate", () => {
  test("applies the files in order, the kit's own first, and notes their version", async () => {
    file("0001.do.create-table.sql", "create table a (id int); create table b (id int);");
    file("0002.do.insert-row.sql", "insert into a values (1); insert into b select id from a;");
    await run();
    expect(await tables()).toEqual(
      expect.arrayContaining(["a", "b", "kit_schema_version", "outbox", "schema_version"]),
    );
    expect(await version("schema_version")).toBe(2n);
    expect(await version("kit_schema_version")).toBeGreaterThan(0n);
    expect((await database.pool.query("select * from b")).rows).toEqual([{ id: 1 }]);
  });

  test("applies only what is new the next time", async () => {
    file("0001.do.create-table.sql", "create table a (id int)");
    await run();
    await run();
    file("0002.do.add-column.sql", "alter table a add column name text");
    await run();
    expect(await version("schema_version")).toBe(2n);
  });

  test("takes a URL as well as a pool", async () => {
    file("0001.do.create-table.sql", "create table a (id int)");
    await migrate({ url: database.url, directory, log: silent });
    expect(await tables()).toContain("a");
  });

  test("started by three at once, is done once", async () => {
    file("0001.do.create-table.sql", "create table a (id int); select pg_sleep(0.1);");
    file("0002.do.insert-row.sql", "insert into a values (1)");
    await Promise.all([run(), run(), run()]);
    expect((await database.pool.query("select * from a")).rows).toEqual([{ id: 1 }]);
  });

  test("a file that fails undoes all, and is named", async () => {
    file("0001.do.create-table.sql", "create table a (id int)");
    file("0002.do.fail.sql", "create table b (id int); select 1/0;");
    await expect(run()).rejects.toMatchObject({
      kind: "precondition",
      reason: "MIGRATION_FAILED",
      message: `${join(directory, "0002.do.fail.sql")}: division by zero`,
    });
    expect(await tables()).toEqual([]);
  });

  test("goes on after the file is mended", async () => {
    file("0001.do.create-table.sql", "create table a (id int); select 1/0");
    await expect(run()).rejects.toThrow(/division/);
    file("0001.do.create-table.sql", "create table a (id int)");
    await run();
    expect(await tables()).toContain("a");
  });

  test("an applied file that was edited is refused, and named", async () => {
    file("0001.do.create-table.sql", "create table a (id int)");
    await run();
    file("0001.do.create-table.sql", "create table a (id bigint)");
    file("0002.do.create-other.sql", "create table b (id int)");
    await expect(run()).rejects.toMatchObject({
      reason: "MIGRATION_FAILED",
      message: expect.stringMatching(/0001\.do\.create-table\.sql: MD5 checksum failed/),
    });
    expect(await tables()).not.toContain("b");
  });

  test("a database that a newer release has migrated is refused", async () => {
    file("0001.do.create-table.sql", "create table a (id int)");
    file("0002.do.add-column.sql", "alter table a add column name text");
    await run();
    rmSync(join(directory, "0002.do.add-column.sql"));
    await expect(run()).rejects.toMatchObject({
      kind: "precondition",
      reason: "SCHEMA_NEWER",
      message: expect.stringContaining("at version 2 of schema_version, this release knows 1"),
    });
  });

  test.each([
    ["a gap", ["0001.do.a.sql", "0003.do.b.sql"]],
    ["a number given twice", ["0001.do.a.sql", "0001.do.b.sql"]],
    ["a start at zero", ["0000.do.a.sql"]],
    ["an undo", ["0001.do.a.sql", "0001.undo.a.sql"]],
    ["another way of naming", ["0001-a.sql"]],
    ["capitals and quotes", ["0001.do.It's.sql"]],
  ])("%s in the folder is refused", async (_, names) => {
    for (const name of names) file(name, "select 1");
    await expect(run()).rejects.toMatchObject({ reason: "MIGRATION_MISNAMED" });
  });

  test("a folder whose path holds a pattern's characters is read all the same", async () => {
    const odd = mkdtempSync(join(directory, "[x]*{a,b}-"));
    writeFileSync(join(odd, "0001.do.create-table.sql"), "create table a (id int)");
    await migrate({ pool: database.pool, directory: odd, log: silent });
    expect(await tables()).toContain("a");
  });

  test("may take longer than a statement of the pool may", async () => {
    const quick = await openDatabase({ name: "kit-migrate-slow", statementTimeoutMs: 50 });
    file("0001.do.create-table.sql", "create table a (id int); select pg_sleep(0.3);");
    await migrate({ pool: quick.pool, directory, log: silent });
    expect((await quick.pool.query("select count(*) from a")).rows).toEqual([{ count: 0n }]);
    await quick.close();
  });

  test("a file that ends the transaction by itself is refused", async () => {
    file("0001.do.create-table.sql", "create table a (id int); commit; begin;");
    await expect(run()).rejects.toMatchObject({
      reason: "MIGRATION_FAILED",
      message: expect.stringContaining("0001.do.create-table.sql"),
    });
  });

  test("a database that cannot be reached is an error", async () => {
    const url = "postgres://nobody@127.0.0.1:1/none";
    await expect(migrate({ url, directory, log: silent })).rejects.toThrow(/ECONNREFUSED/);
  });
});
