import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Commit, LapseApiError, type LapseClient, type Table } from "@lapse/sdk";
import { requireQuery, requireReadOnly, withEngine } from "../src/sql/engine.ts";
import { mountTables } from "../src/sql/mount.ts";
import { localPath, typeText } from "../src/sql/source.ts";
import { writeQuery } from "../src/sql/write.ts";

let root: string;
let commits: Commit[];
let released: string[];
let columns: Table["columns"];
let exists: boolean;
let commitFails: Error | null;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lapse sql %41-"));
  commits = [];
  released = [];
  columns = [{ name: "id", type: "BIGINT" }];
  exists = true;
  commitFails = null;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const table = (): Table =>
  ({
    id: "t1",
    full_name: "bronze.trial",
    kind: "managed",
    columns,
    location: `file://${root}`,
  }) as unknown as Table;

/** A catalog of one table whose files are those that were committed. */
function catalog(): LapseClient {
  const notFound = new LapseApiError(404, { code: "TABLE_NOT_FOUND", detail: "not there" });
  return {
    tables: {
      get: async () => {
        if (!exists) throw notFound;
        return table();
      },
      create: async () => table(),
      files: async (_: string, name: string) => {
        if (!exists || name !== "bronze.trial") throw notFound;
        const files = commits.flatMap((commit) =>
          commit.files.map((file) => ({
            ...file,
            uri: `file://${join(root, file.path)}`,
          })),
        );
        return { snapshot_id: "s", files, table: table(), row_filters: [], column_masks: [] };
      },
      byId: () => ({
        commit: async (commit: Commit) => {
          if (commitFails) throw commitFails;
          commits.push(commit);
          return table();
        },
      }),
      holds: {
        createById: async () => ({
          id: "h1",
          created_at: new Date(),
          expires_at: new Date(Date.now() + 60_000),
        }),
        renew: async () => ({}),
        release: async (id: string) => {
          released.push(id);
        },
      },
    },
  } as unknown as LapseClient;
}

const rowsOf = (sql: string) =>
  withEngine(async (engine) => {
    await mountTables(engine, catalog(), "dev", sql);
    return (await engine.runAndReadAll(sql)).getRowObjectsJson();
  });
const write = (sql: string, mode: "create" | "append" | "replace") =>
  withEngine((engine) =>
    writeQuery(engine, catalog(), {
      sql,
      environment: "dev",
      into: "bronze.trial",
      mode,
      read: [],
    }),
  );
const filesLeft = () =>
  readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".parquet"),
  );

describe("writing and reading", () => {
  test("T1 rows written by a query are read back, and appended ones join them", async () => {
    exists = false;
    await write("SELECT range AS id FROM range(10)", "create");
    exists = true;
    await write("SELECT 10::INTEGER AS id", "append");
    expect(await rowsOf("SELECT count(*) AS n, max(id) AS top FROM bronze.trial")).toEqual([
      { n: "11", top: "10" },
    ]);
    expect(commits.map((commit) => commit.operation)).toEqual(["append", "append"]);
    expect(commits[1]?.hold_id).toBe("h1");
  });

  test("a replace brings its own columns", async () => {
    await write("SELECT 'x' AS name", "replace");
    expect(commits[0]).toMatchObject({
      operation: "replace",
      columns: [{ name: "name", type: "VARCHAR" }],
    });
  });

  test("a table without files is read as empty, with its columns", async () => {
    expect(await rowsOf('SELECT id FROM "BRONZE".trial'.replace("BRONZE", "bronze"))).toEqual([]);
  });

  test("creating a table that exists is refused before the query runs", async () => {
    await expect(write("SELECT 1 AS id", "create")).rejects.toMatchObject({ code: "NAME_TAKEN" });
    expect(filesLeft()).toEqual([]);
  });

  test.each([
    ["lacks a column", "SELECT 1 AS other", /lacks id.*no other/],
    ["has one twice", "SELECT 1 AS id, 2 AS id", /named id/],
  ])("an append that %s is refused, naming it", async (_, sql, message) => {
    await expect(write(sql, "append")).rejects.toThrow(message);
    expect(commits).toEqual([]);
  });

  test("a query that fails leaves no file and gives up the hold", async () => {
    await expect(
      write(
        "SELECT CASE WHEN range < 5 THEN range ELSE error('no') END AS id FROM range(10)",
        "append",
      ),
    ).rejects.toThrow(/no/);
    expect(filesLeft()).toEqual([]);
    expect(released).toEqual(["h1"]);
  });

  test("a refused commit leaves no file; one without an answer keeps it, since it may have happened", async () => {
    commitFails = new LapseApiError(409, { code: "CONFLICT", detail: "moved on" });
    await expect(write("SELECT 1 AS id", "append")).rejects.toThrow("moved on");
    expect(filesLeft()).toEqual([]);
    commitFails = new LapseApiError(503, { code: "UNAVAILABLE", detail: "away" });
    await expect(write("SELECT 1 AS id", "append")).rejects.toThrow("away");
    expect(filesLeft()).toHaveLength(1);
  });
});

describe("what is refused", () => {
  test.each([
    ["two statements", "SELECT 1; SELECT 2", /one query/],
    ["no SQL", "selec 1", /syntax error/i],
    ["a change", "CREATE TABLE x (a INTEGER)", /runs queries/],
    ["a write elsewhere", "COPY (SELECT 1) TO '/tmp/never.csv'", /runs queries/],
  ])("%s", async (_, sql, message) => {
    await expect(
      withEngine(async (engine) => {
        await requireQuery(engine, sql);
        await requireReadOnly(engine, sql);
      }),
    ).rejects.toThrow(message);
  });

  test("a table that is not there is the catalog's answer", async () => {
    await expect(rowsOf("SELECT * FROM bronze.nope")).rejects.toMatchObject({ status: 404 });
  });

  test("a type that is no type is not put into SQL", () => {
    expect(() => typeText({ name: "id", type: "INTEGER); DROP TABLE x; --" })).toThrow(
      /no SQL type/,
    );
    expect(typeText({ name: "id", type: 'STRUCT("a b" INTEGER[])' })).toBe(
      'STRUCT("a b" INTEGER[])',
    );
  });

  test("files elsewhere are said to be elsewhere", () => {
    expect(() => localPath("s3://bucket/key")).toThrow(/s3:\/\/bucket/);
  });
});
