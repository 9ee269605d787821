import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { ColumnMaskToApply, LapseClient, Mask, RowFilterToApply, Table } from "@lapse/sdk";
import { RefusedError } from "../src/exit.ts";
import { requireReadOnly, withEngine } from "../src/sql/engine.ts";
import { mountTables } from "../src/sql/mount.ts";
import { writeQuery } from "../src/sql/write.ts";

const COLUMNS = [
  { name: "id", type: "BIGINT" },
  { name: "country", type: "VARCHAR" },
  { name: "email", type: "VARCHAR" },
  { name: "since", type: "TIMESTAMP WITH TIME ZONE" },
  { name: "spent", type: "DECIMAL(10,2)" },
];
const ROWS = `
  SELECT * FROM (VALUES
    (1::BIGINT, 'DE', 'ana@example.org', TIMESTAMPTZ '2026-01-01 00:00:00+00', 10.50::DECIMAL(10,2), 'old 1'),
    (2::BIGINT, 'FR', 'bob@example.org', TIMESTAMPTZ '2026-02-01 00:00:00+00', 20.00::DECIMAL(10,2), 'old 2'),
    (3::BIGINT, 'US', 'cat@example.org', TIMESTAMPTZ '2026-03-01 00:00:00+00', NULL, 'old 3'),
    (4::BIGINT, NULL, NULL, NULL, 5.00::DECIMAL(10,2), 'old 4'),
    (5::BIGINT, 'O''x"; --', 'abc', TIMESTAMPTZ '2026-05-01 00:00:00+00', 1.00::DECIMAL(10,2), 'old 5')
  ) t(id, country, email, since, spent, gone)`;

let root: string;
let filters: RowFilterToApply[];
let masks: ColumnMaskToApply[];
let columns: Table["columns"];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "lapse policies-"));
  await withEngine(async (engine) => {
    await engine.run(`COPY (${ROWS}) TO '${root}/all.parquet' (FORMAT parquet)`);
  });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  filters = [];
  masks = [];
  columns = COLUMNS;
});

const table = (): Table =>
  ({
    id: "t1",
    full_name: "bronze.people",
    owner: "ana",
    kind: "managed",
    columns,
    location: `file://${root}`,
  }) as unknown as Table;

/** A catalog of `bronze.people`, with policies, and of `bronze.plain`, the same without. */
function catalog(): LapseClient {
  return {
    tables: {
      get: async () => table(),
      files: async (_: string, name: string, options: { appliesPolicies?: boolean }) => {
        expect(options).toEqual({ appliesPolicies: true });
        const plain = name === "bronze.plain";
        return {
          snapshot_id: "s",
          files: [{ path: "all.parquet", uri: `file://${root}/all.parquet` }],
          table: plain ? { ...table(), id: "t2", full_name: name } : table(),
          row_filters: plain ? [] : filters,
          column_masks: plain ? [] : masks,
        };
      },
    },
  } as unknown as LapseClient;
}

const rowsOf = (sql: string) =>
  withEngine(async (engine) => {
    await mountTables(engine, catalog(), "dev", sql);
    await requireReadOnly(engine, sql);
    return (await engine.runAndReadAll(sql)).getRowObjectsJson();
  });
const idsOf = async (sql = "SELECT id FROM bronze.people ORDER BY id") =>
  (await rowsOf(sql)).map((row) => Number(row.id));
const mask = (column: string, kind: Mask) => masks.push({ column, mask: kind });
const where = (column: string, operator: RowFilterToApply["operator"], ...values: string[]) =>
  filters.push({ column, operator, values });

describe("a row filter", () => {
  test.each<[RowFilterToApply["operator"], string, string[], number[]]>([
    ["=", "country", ["DE"], [1]],
    ["!=", "country", ["DE"], [2, 3, 5]],
    ["in", "country", ["DE", "FR"], [1, 2]],
    ["is null", "country", [], [4]],
    ["is not null", "country", [], [1, 2, 3, 5]],
    ["<", "id", ["3"], [1, 2]],
    ["<=", "id", ["3"], [1, 2, 3]],
    [">", "spent", ["10.49"], [1, 2]],
    [">=", "since", ["2026-02-01T00:00:00Z"], [2, 3, 5]],
    ["in", "id", ["10", "4"], [4]],
  ])("shows the rows for which column %s %s", async (operator, column, values, ids) => {
    where(column, operator, ...values);
    expect(await idsOf()).toEqual(ids);
  });

  test("of several shows the rows for which every one holds", async () => {
    where("country", "in", "DE", "FR");
    where("spent", ">", "15");
    expect(await idsOf()).toEqual([2]);
  });

  test("holds whatever the query asks, in counts, joins, subqueries and unions", async () => {
    where("country", "=", "DE");
    expect(await rowsOf("SELECT count(*) AS n FROM bronze.people")).toEqual([{ n: "1" }]);
    expect(await idsOf("SELECT id FROM bronze.people WHERE country = 'US' OR true")).toEqual([1]);
    expect(
      await idsOf(
        "SELECT p.id FROM bronze.plain p LEFT JOIN bronze.people q USING (id) WHERE q.id IS NULL ORDER BY 1",
      ),
    ).toEqual([2, 3, 4, 5]);
    expect(
      await idsOf("SELECT id FROM bronze.plain WHERE id IN (SELECT id FROM bronze.people)"),
    ).toEqual([1]);
  });

  test("takes its values as data, quotes and comments included", async () => {
    where("country", "=", `O'x"; --`);
    expect(await idsOf()).toEqual([5]);
    filters = [];
    where("country", "=", "' OR true --");
    expect(await idsOf()).toEqual([]);
  });

  test("takes its column's name as data", async () => {
    where('id" IS NOT NULL OR "id', "=", "1");
    await expect(idsOf()).rejects.toThrow(/cannot be applied/);
  });

  test("whose value is none of the column's type is a refusal that does not say the value", async () => {
    where("id", "=", "secret");
    const error: unknown = await idsOf().catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/no BIGINT.*owner/);
    expect(String(error)).not.toMatch(/secret/);
  });

  test("lets no condition of the query touch a row that it hides", async () => {
    where("country", "=", "DE");
    const probe = "CASE WHEN country = 'US' THEN error('seen: ' || email) ELSE true END";
    expect(await idsOf(`SELECT id FROM bronze.people WHERE ${probe}`)).toEqual([1]);
    // Without the filter the condition does touch it.
    filters = [];
    await expect(idsOf(`SELECT id FROM bronze.people WHERE ${probe}`)).rejects.toThrow(/seen: cat/);
  });

  test.each<[string, RowFilterToApply]>([
    ["on a column that is not there", { column: "nope", operator: "=", values: ["1"] }],
    ["on a column told apart by case alone", { column: "COUNTRY", operator: "=", values: ["DE"] }],
    ["with an operator from the future", { column: "id", operator: "like" as "=", values: ["1"] }],
    ["without its value", { column: "id", operator: "=", values: [] }],
    ["with one value too many", { column: "id", operator: "=", values: ["1", "2"] }],
    ["with no values to be in", { column: "id", operator: "in", values: [] }],
    ["of nulls with a value", { column: "id", operator: "is null", values: ["1"] }],
    ["with a NUL", { column: "country", operator: "=", values: ["D\0E"] }],
  ])("%s shows nothing at all", async (_, filter) => {
    filters = [filter];
    await expect(idsOf()).rejects.toThrow();
  });
});

describe("a column mask", () => {
  const emails = async () =>
    (await rowsOf("SELECT email FROM bronze.people ORDER BY id")).map(({ email }) => email);
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

  test("null shows nothing, in the column's type", async () => {
    mask("spent", "null");
    expect(await rowsOf("SELECT DISTINCT spent, typeof(spent) AS t FROM bronze.people")).toEqual([
      { spent: null, t: "DECIMAL(10,2)" },
    ]);
  });

  test("redact shows a fixed text, for nulls too", async () => {
    mask("email", "redact");
    expect(new Set(await emails())).toEqual(new Set(["***"]));
  });

  test("hash shows the SHA-256, by which equal values are still equal", async () => {
    mask("email", "hash");
    expect(await emails()).toEqual([
      sha256("ana@example.org"),
      sha256("bob@example.org"),
      sha256("cat@example.org"),
      null,
      sha256("abc"),
    ]);
  });

  test("last shows the last four characters, and nothing of a value that has no more", async () => {
    mask("email", "last");
    expect(await emails()).toEqual([".org", ".org", ".org", null, "***"]);
  });

  test("of a number and of a time are texts", async () => {
    mask("id", "last");
    mask("since", "hash");
    const [row] = await rowsOf("SELECT id, since FROM bronze.people LIMIT 1");
    expect(row).toEqual({ id: "***", since: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test("hides the value from conditions and order as well", async () => {
    mask("email", "redact");
    expect(await idsOf("SELECT id FROM bronze.people WHERE email LIKE 'ana%'")).toEqual([]);
    await expect(
      rowsOf(
        "SELECT id FROM bronze.people WHERE CASE WHEN email LIKE 'ana%' THEN error(email) ELSE true END",
      ),
    ).resolves.toHaveLength(5);
  });

  test("does not hide it from the filter, which is on the values as they are", async () => {
    mask("country", "redact");
    where("country", "=", "DE");
    expect(await rowsOf("SELECT id, country FROM bronze.people")).toEqual([
      { id: "1", country: "***" },
    ]);
  });

  test("of several for one column is the one that shows least", async () => {
    mask("email", "last");
    mask("email", "null");
    mask("email", "hash");
    expect(new Set(await emails())).toEqual(new Set([null]));
  });

  test("leaves nothing to see of columns that the files have and the table has not", async () => {
    mask("email", "hash");
    const [row] = await rowsOf("SELECT * FROM bronze.people LIMIT 1");
    expect(Object.keys(row ?? {})).toEqual(COLUMNS.map(({ name }) => name));
    await expect(rowsOf("SELECT gone FROM bronze.people")).rejects.toThrow(/gone/);
  });

  test("of a column that the files do not have yet shows nulls", async () => {
    columns = [...COLUMNS, { name: "later", type: "INTEGER" }];
    mask("later", "redact");
    mask("email", "null");
    expect(await rowsOf("SELECT later FROM bronze.people LIMIT 1")).toEqual([{ later: "***" }]);
  });

  test.each<[string, string, string]>([
    ["from the future", "email", "rot13"],
    ["on a column told apart by case alone", "EMAIL", "null"],
  ])("%s shows nothing at all", async (_, column, kind) => {
    mask(column, kind as Mask);
    await expect(emails()).rejects.toThrow();
  });
});

describe("writing what is masked", () => {
  const write = (sql: string, into: string, mode: "append" | "replace") =>
    withEngine(async (engine) => {
      const client = catalog();
      const read = await mountTables(engine, client, "dev", sql);
      return writeQuery(engine, client, { sql, environment: "dev", into, mode, read });
    });

  test("back over its table is refused, since what is not seen would be lost", async () => {
    mask("email", "hash");
    const refused = write("SELECT * FROM bronze.people", "bronze.people", "replace");
    await expect(refused).rejects.toThrow(RefusedError);
    await expect(refused).rejects.toThrow(/do not see all.*ana/);
  });

  test("is refused by the fit of its columns where a mask has changed a type", async () => {
    mask("id", "redact");
    await expect(
      write("SELECT id, country, email, since FROM bronze.people", "bronze.people", "append"),
    ).rejects.toThrow(/lacks spent/);
  });
});
