import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId, type Principal } from "@lapse/kit";
import { CommitOperation, type Table } from "@lapse/proto/catalog";
import { ANA, bind, eachRefused, grant, person, ROOT, somebody } from "./lab/access.ts";
import { type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
import { putFile } from "./lab/table-files.ts";
import { newEnvironment, newPlace, present, tableById } from "./lab/tables.ts";

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-access-files");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const COLUMNS = ["region", "email", "amount"].map((name) => ({ name, type: "VARCHAR" }));

async function aTable(fileCount = 1): Promise<Table> {
  const created = await lab.as(ANA).createTable({ name: newPlace(environment), columns: COLUMNS });
  const table = present(created.table);
  if (fileCount > 0) await commit(table, fileCount);
  return table;
}
async function commit(
  table: Table,
  fileCount: number,
  operation: CommitOperation = CommitOperation.APPEND,
) {
  const files = [];
  for (let index = 0; index < fileCount; index++) files.push(await putFile(lab.store, table));
  await lab.as(ANA).commitTable({ ...tableById(table.tableId), operation, files });
}
const setFilter = ({ tableId }: Table, name: string, appliesTo: string, value: string) =>
  lab.access(ANA).setRowFilter({
    ...tableById(tableId),
    filter: { name, appliesTo, column: "region", operator: "=", values: [value] },
  });
const setMask = ({ tableId }: Table, column: string, appliesTo: string, mask: string) =>
  lab.access(ANA).setColumnMask({ ...tableById(tableId), mask: { column, appliesTo, mask } });
const files = (who: Principal, { tableId }: Table, request = {}) =>
  lab.as(who).listTableFiles({ ...tableById(tableId), ...request });
const applied = async (who: Principal, table: Table) => {
  const { rowFilters, columnMasks } = await files(who, table, { appliesPolicies: true });
  return {
    filters: rowFilters.map(({ values }) => values[0]),
    masks: columnMasks.map(({ column, mask }) => `${column}: ${mask}`),
  };
};

describe("row filters and column masks", () => {
  test("apply to whom they name, to the holders of a role, and to everybody", async () => {
    const table = await aTable();
    const [eve, mia] = [somebody("reader"), somebody("writer")];
    const both = somebody("writer", "reader");
    await setFilter(table, "a", eve.subject, "for-eve");
    await setFilter(table, "b", "role:reader", "for-readers");
    await setFilter(table, "c", "*", "for-all");
    await setMask(table, "email", "role:writer", "redact");
    expect(await applied(eve, table)).toEqual({
      filters: ["for-eve", "for-readers", "for-all"],
      masks: [],
    });
    // A writer may what a reader may, but has another role.
    expect(await applied(mia, table)).toEqual({ filters: ["for-all"], masks: ["email: redact"] });
    expect(await applied(both, table)).toEqual({
      filters: ["for-readers", "for-all"],
      masks: ["email: redact"],
    });
  });

  test("apply by a role that was bound, and to who reads by a grant alone", async () => {
    const table = await aTable();
    const [bound, granted] = [somebody(), somebody()];
    await bind(lab, bound, "reader", environment);
    await grant(lab, table, granted, "read");
    await setFilter(table, "a", "role:reader", "for-readers");
    await setMask(table, "email", "*", "hash");
    expect(await applied(bound, table)).toEqual({
      filters: ["for-readers"],
      masks: ["email: hash"],
    });
    expect(await applied(granted, table)).toEqual({ filters: [], masks: ["email: hash"] });
  });

  test("never apply to the owner, to admins of either kind, and to services", async () => {
    const table = await aTable();
    await setFilter(table, "a", "*", "x");
    await setMask(table, "email", "*", "null");
    const admin = somebody("reader");
    await bind(lab, admin, "admin", environment);
    await setFilter(table, "b", admin.subject, "x");
    await setFilter(table, "c", "ana", "x");
    for (const who of [person("ana"), person("ana", "reader"), ROOT, admin, SERVICE_PRINCIPAL]) {
      expect(await applied(who, table)).toEqual({ filters: [], masks: [] });
      expect((await files(who, table)).files).toHaveLength(1);
    }
    const admin2 = somebody("reader");
    await bind(lab, admin2, "admin", await newEnvironment(lab));
    expect(await applied(admin2, table)).toEqual({ filters: ["x"], masks: ["email: null"] });
  });

  test("of several masks of a column the strictest applies", async () => {
    const table = await aTable();
    const eve = somebody("reader");
    await setMask(table, "email", eve.subject, "last");
    await setMask(table, "email", "role:reader", "redact");
    await setMask(table, "email", "*", "hash");
    await setMask(table, "amount", "*", "null");
    expect(await applied(eve, table)).toEqual({
      filters: [],
      masks: expect.arrayContaining(["email: redact", "amount: null"]),
    });
    expect(await applied(somebody("writer"), table)).toMatchObject({
      masks: expect.arrayContaining(["email: hash"]),
    });
  });

  test.each(["filter", "mask"])(
    "a reader that a %s applies to gets no files unless it applies it itself",
    async (kind) => {
      const table = await aTable();
      const [eve, mia] = [somebody("reader"), somebody("reader")];
      if (kind === "filter") await setFilter(table, "a", eve.subject, "x");
      else await setMask(table, "email", eve.subject, "null");
      await expect(files(eve, table)).rejects.toMatchObject({
        kind: "precondition",
        reason: "POLICY_NOT_APPLIED",
      });
      expect((await files(eve, table, { appliesPolicies: true })).files).toHaveLength(1);
      // The opposite, for somebody whom it does not name.
      expect((await files(mia, table)).files).toHaveLength(1);
    },
  );

  test("a removed one applies no longer", async () => {
    const table = await aTable();
    const eve = somebody("reader");
    await setFilter(table, "a", "*", "x");
    await expect(files(eve, table)).rejects.toMatchObject({ reason: "POLICY_NOT_APPLIED" });
    await lab.access(ANA).removeRowFilter({ ...tableById(table.tableId), name: "a" });
    expect((await files(eve, table)).files).toHaveLength(1);
  });
});

describe("ListTableFiles", () => {
  async function pages(who: Principal, table: Table, limit: number): Promise<string[][]> {
    const all: string[][] = [];
    let cursor = "";
    do {
      const page = await files(who, table, { limit, cursor });
      all.push(page.files.map(({ path }) => path));
      cursor = page.nextCursor;
    } while (cursor);
    return all;
  }

  test("pages through every file of the snapshot once, by path", async () => {
    const table = await aTable(7);
    await commit(table, 3, CommitOperation.REPLACE);
    await commit(table, 4);
    const seen = await pages(somebody("reader"), table, 3);
    expect(seen.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(seen.flat()).toEqual([...new Set(seen.flat())].sort());
    expect((await files(ROOT, table)).files.map(({ path }) => path)).toEqual(seen.flat());
  });

  test("ends a page exactly at the last file, and gives a table without files an empty one", async () => {
    const full = await aTable(4);
    const lengths = (await pages(ROOT, full, 2)).map((page) => page.length);
    expect(lengths).toEqual([2, 2]);
    expect(await pages(ROOT, await aTable(0), 2)).toEqual([[]]);
  });

  test("pages through more than 10,000 files, and ends a page early where paths are long", async () => {
    const table = await aTable(1);
    await lab.deps.pool.query(
      `insert into data_file (table_id, path, byte_size, row_count, added_in)
       select $1, 'data/' || lpad(n::text, 800, '0') || '.parquet', 8, 1, 1
       from generate_series(1, 10500) n`,
      [table.tableId],
    );
    const seen = await pages(ROOT, table, 10_000);
    expect(seen.flat()).toHaveLength(10_501);
    expect(new Set(seen.flat()).size).toBe(10_501);
    expect(seen.length).toBeGreaterThan(5);
    expect(present(seen[0]).length).toBeLessThan(1_000);
  });

  test("refuses a page after a commit, so that no reader mixes two snapshots", async () => {
    const table = await aTable(3);
    const first = await files(ROOT, table, { limit: 1 });
    await commit(table, 1);
    await expect(files(ROOT, table, { limit: 1, cursor: first.nextCursor })).rejects.toMatchObject({
      kind: "conflict",
      reason: "SNAPSHOT_CHANGED",
    });
    expect(await pages(ROOT, table, 1)).toHaveLength(4);
  });

  test("goes on after a change that is no commit", async () => {
    const table = await aTable(3);
    const first = await files(ROOT, table, { limit: 2 });
    await lab.as(ANA).touchTable(tableById(table.tableId));
    const second = await files(ROOT, table, { limit: 2, cursor: first.nextCursor });
    expect(second).toMatchObject({ snapshotId: first.snapshotId, files: [{}], nextCursor: "" });
  });

  test("refuses limits and cursors that are none", async () => {
    const table = await aTable(1);
    const cursor = (...parts: string[]) => Buffer.from(JSON.stringify(parts)).toString("base64url");
    const refused = await eachRefused([
      files(ROOT, table, { limit: -1 }),
      files(ROOT, table, { limit: 10_001 }),
      files(ROOT, table, { cursor: "x" }),
      files(ROOT, table, { cursor: cursor("live", newId(), "x") }),
      files(ROOT, table, { cursor: cursor("file", "1", "x") }),
    ]);
    for (const error of refused) expect(error).toMatchObject({ kind: "invalid" });
    // Of another table's snapshot.
    const other = await files(ROOT, await aTable(2), { limit: 1 });
    await expect(files(ROOT, table, { cursor: other.nextCursor })).rejects.toMatchObject({
      reason: "SNAPSHOT_CHANGED",
    });
  });
});
