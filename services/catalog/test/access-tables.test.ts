import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Principal } from "@lapse/kit";
import { CommitOperation, type Table } from "@lapse/proto/catalog";
import { beginDuePurges } from "../src/app/begin-purges.ts";
import { purgeNextTable } from "../src/app/purge-table.ts";
import { ANA, bind, eachRefused, grant, person, ROOT, refusals, somebody } from "./lab/access.ts";
import { aName, DAY_MS, type Lab, openLab } from "./lab/lab.ts";
import { putFile } from "./lab/table-files.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  present,
  tableById,
  tableByName,
  tableNow,
} from "./lab/tables.ts";

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-access-tables");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const COLUMNS = [
  { name: "id", type: "BIGINT", required: true },
  { name: "region", type: "VARCHAR" },
  { name: "price", type: "DECIMAL(10,2)" },
  { name: "day", type: "DATE" },
  { name: "at", type: "TIMESTAMP WITH TIME ZONE" },
  { name: "ok", type: "BOOLEAN" },
  { name: "ref", type: "UUID" },
  { name: "list", type: "BIGINT[]" },
];
const aTable = async (): Promise<Table> =>
  present((await lab.as(ANA).createTable({ name: newPlace(environment), columns: COLUMNS })).table);
const accessOf = async ({ tableId }: Table, who: Principal = ANA) =>
  present((await lab.access(who).getTableAccess(tableById(tableId))).access);
const filter = (patch = {}) => ({
  name: "eu-only",
  appliesTo: "*",
  column: "region",
  operator: "=",
  values: ["eu"],
  ...patch,
});
const mask = (patch = {}) => ({ column: "region", appliesTo: "*", mask: "hash", ...patch });
const setFilter = ({ tableId }: Table, patch = {}, who: Principal = ANA) =>
  lab.access(who).setRowFilter({ ...tableById(tableId), filter: filter(patch) });
const setMask = ({ tableId }: Table, patch = {}, who: Principal = ANA) =>
  lab.access(who).setColumnMask({ ...tableById(tableId), mask: mask(patch) });
const typesAfterCreation = async ({ tableId }: Table) =>
  (await lab.decisions(tableId)).map(({ type }) => type).slice(1);

describe("grants on a table", () => {
  test("T6 are given and taken back once, however often, each with a decision, and are no activity", async () => {
    const [table, who] = [await aTable(), somebody()];
    const request = { ...tableById(table.tableId), subject: who.subject, right: "write" };
    const first = await lab.access(ANA).grantTable(request);
    expect(first.access).toMatchObject({
      tableId: table.tableId,
      owner: "ana",
      applies: true,
      grants: [{ subject: who.subject, right: "write", grantedBy: "ana" }],
    });
    expect(await lab.access(ROOT).grantTable(request)).toEqual(first);
    expect((await lab.access(ANA).revokeTable(request)).access?.grants).toEqual([]);
    expect((await lab.access(ANA).revokeTable(request)).access?.grants).toEqual([]);
    expect((await lab.decisions(table.tableId)).slice(1)).toMatchObject([
      { type: "TABLE_GRANTED", actor: "ana", details: { subject: who.subject, right: "write" } },
      { type: "TABLE_GRANT_REVOKED", actor: "ana", details: { right: "write" } },
    ]);
    // Nothing that a drop depends on has moved.
    expect(await tableNow(lab, table.tableId)).toEqual(table);
    expect(await lab.events(table.tableId)).toHaveLength(1);
  });

  test("are given by the owner and by who manages access, and by nobody else", async () => {
    const table = await aTable();
    const request = { ...tableById(table.tableId), subject: "ben", right: "read" };
    const engineer = somebody("data_engineer");
    const granted = somebody();
    await grant(lab, table, granted, "read", "write", "drop");
    for (const who of [engineer, granted]) {
      await expect(lab.access(who).grantTable(request)).rejects.toMatchObject({
        reason: "RIGHT_MISSING",
        details: { right: "access.manage" },
      });
      await expect(lab.access(who).getTableAccess(tableById(table.tableId))).rejects.toMatchObject({
        reason: "RIGHT_MISSING",
      });
      expect(await refusals(lab, table.tableId, who)).toMatchObject([
        { details: { right: "access.manage", method: expect.stringContaining("GrantTable") } },
        { details: { method: expect.stringContaining("GetTableAccess") } },
      ]);
    }
    const admin = somebody();
    await bind(lab, admin, "admin", environment);
    await lab.access(admin).grantTable(request);
    expect((await accessOf(table)).grants).toHaveLength(4);
  });

  test("refuse what is no right and no subject", async () => {
    const { tableId } = await aTable();
    for (const [subject, right] of [
      ["ana", "own"],
      ["*", "read"],
      ["", "read"],
      ["role:reader", "read"],
    ] as const) {
      await expect(
        lab.access(ANA).grantTable({ ...tableById(tableId), subject, right }),
      ).rejects.toMatchObject({ kind: "invalid" });
    }
  });

  test("are bounded, and the last place goes to one of two that come at once", async () => {
    const table = await aTable();
    await lab.deps.pool.query(
      `insert into table_grant (table_id, subject, "right", tenant, environment_id, granted_by, granted_at)
       select table_id, 's' || n, 'read', tenant, environment_id, 'ana', now()
       from catalog_table, generate_series(1, 999) n where table_id = $1`,
      [table.tableId],
    );
    const give = (subject: string) =>
      lab.access(ANA).grantTable({ ...tableById(table.tableId), subject, right: "read" });
    const attempts = await Promise.allSettled([give("x1"), give("x2")]);
    const failed = attempts.filter(({ status }) => status === "rejected");
    expect(failed).toMatchObject([{ reason: { kind: "exhausted", reason: "TOO_MANY_RULES" } }]);
    expect((await accessOf(table)).grants).toHaveLength(1000);
    // What is there already is fine.
    await give("s1");
  });

  test("repeat their answer for the same idempotency key", async () => {
    const { tableId } = await aTable();
    const request = { ...tableById(tableId), subject: "ben", right: "read" };
    const options = { idempotencyKey: aName() };
    const first = await lab.access(ANA).grantTable(request, options);
    await lab.access(ANA).revokeTable(request);
    expect(await lab.access(ANA).grantTable(request, options)).toEqual(first);
    expect(
      (await accessOf(present((await lab.as(ANA).getTable(tableById(tableId))).table))).grants,
    ).toEqual([]);
  });
});

describe("row filters", () => {
  test("are set, replaced by their name, and removed, each with a decision", async () => {
    const table = await aTable();
    await setFilter(table);
    await setFilter(table);
    const { access } = await setFilter(table, { operator: "in", values: ["eu", "us"] });
    expect(access?.rowFilters).toMatchObject([
      { ...filter({ operator: "in", values: ["eu", "us"] }), setBy: "ana" },
    ]);
    const remove = () =>
      lab.access(ANA).removeRowFilter({ ...tableById(table.tableId), name: "eu-only" });
    expect((await remove()).access?.rowFilters).toEqual([]);
    await remove();
    expect((await lab.decisions(table.tableId)).slice(1)).toMatchObject([
      {
        type: "ROW_FILTER_SET",
        details: {
          name: "eu-only",
          applies_to: "*",
          column: "region",
          operator: "=",
          values: ["eu"],
          replaced: false,
        },
      },
      { type: "ROW_FILTER_SET", details: { values: ["eu", "us"], replaced: true } },
      { type: "ROW_FILTER_REMOVED", details: { operator: "in" } },
    ]);
    expect(await tableNow(lab, table.tableId)).toEqual(table);
  });

  test.each([
    [{ name: "" }, "/filter/name"],
    [{ name: "a b" }, "/filter/name"],
    [{ appliesTo: "" }, "/filter/applies_to"],
    [{ appliesTo: "role:emperor" }, "/filter/applies_to"],
    [{ appliesTo: "an*" }, "/filter/applies_to"],
    [{ column: "" }, "/filter/column"],
    [{ column: "no_such" }, "/filter/column"],
    [{ column: "REGION" }, "/filter/column"],
    [{ operator: "like" }, "/filter/operator"],
    [{ operator: "= 1 or 1" }, "/filter/operator"],
    [{ values: [] }, "/filter/values"],
    [{ values: ["a", "b"] }, "/filter/values"],
    [{ operator: "in", values: [] }, "/filter/values"],
    [{ operator: "in", values: Array.from({ length: 1001 }, String) }, "/filter/values"],
    [{ operator: "is null", values: ["x"] }, "/filter/values"],
    [{ values: ["a\0b"] }, "/filter/values/0"],
    [{ values: ["x".repeat(1001)] }, "/filter/values/0"],
    [{ column: "id", values: ["1 or 1"] }, "/filter/values/0"],
    [{ column: "id", operator: "in", values: ["1", "1.5"] }, "/filter/values/1"],
    [{ column: "price", values: ["1e5"] }, "/filter/values/0"],
    [{ column: "day", values: ["2026-02-30"] }, "/filter/values/0"],
    [{ column: "at", values: ["today"] }, "/filter/values/0"],
    [{ column: "ok", values: ["yes"] }, "/filter/values/0"],
    [{ column: "ok", operator: "<", values: ["true"] }, "/filter/operator"],
    [{ column: "ref", values: ["1"] }, "/filter/values/0"],
  ])("refuse %j at %s, and keep what is set", async (patch, field) => {
    const table = await aTable();
    await setFilter(table);
    await expect(setFilter(table, patch)).rejects.toMatchObject({
      kind: "invalid",
      violations: expect.arrayContaining([expect.objectContaining({ field })]),
    });
    expect((await accessOf(table)).rowFilters).toMatchObject([filter()]);
  });

  test.each([
    [{ column: "id", operator: ">=", values: ["-42"] }],
    [{ column: "price", operator: "<", values: ["12.50"] }],
    [{ column: "day", operator: ">", values: ["2026-12-31"] }],
    [{ column: "at", operator: "<=", values: ["2026-12-31T12:00:00Z"] }],
    [{ column: "ok", operator: "!=", values: ["true"] }],
    [{ column: "region", operator: "is not null", values: [] }],
    [{ column: "region", values: ["'; drop table x; --"] }],
    [{ column: "list", values: ["[1, 2]"] }],
    [{ appliesTo: "role:reader" }],
    [{ appliesTo: "key:01890b00-0000-7000-8000-000000000000" }],
  ])("take %j", async (patch) => {
    const table = await aTable();
    const { access } = await setFilter(table, patch);
    expect(access?.rowFilters).toMatchObject([filter(patch)]);
  });

  test("are bounded in number and in bytes", async () => {
    const table = await aTable();
    await lab.deps.pool.query(
      `insert into row_filter select $1, 'f' || n, '*', 'region', '=', '{x}', 'ana', now()
       from generate_series(1, 100) n`,
      [table.tableId],
    );
    await expect(setFilter(table)).rejects.toMatchObject({ reason: "TOO_MANY_RULES" });
    // One in place of another is fine.
    await setFilter(table, { name: "f1" });
    await lab.deps.pool.query(
      `update row_filter set operands = array[repeat('x', 6000)] where table_id = $1`,
      [table.tableId],
    );
    await expect(setFilter(table, { name: "f1" })).rejects.toMatchObject({
      reason: "TOO_MANY_RULES",
      message: expect.stringContaining("bytes"),
    });
  });

  test("record how many values there are where they are too many to list", async () => {
    const table = await aTable();
    const values = Array.from({ length: 900 }, (_, index) => `${index}-${"x".repeat(30)}`);
    await setFilter(table, { operator: "in", values });
    const last = (await lab.decisions(table.tableId)).at(-1);
    expect(last?.details).toMatchObject({ value_count: 900 });
    expect(last?.details).not.toHaveProperty("values");
  });
});

describe("column masks", () => {
  test("are set, replaced for whom they apply to, and removed, each with a decision", async () => {
    const table = await aTable();
    await setMask(table);
    await setMask(table);
    await setMask(table, { mask: "null" });
    const { access } = await setMask(table, { appliesTo: "role:reader", mask: "last" });
    expect(access?.columnMasks).toMatchObject([
      mask({ mask: "null" }),
      mask({ appliesTo: "role:reader", mask: "last" }),
    ]);
    const remove = () =>
      lab
        .access(ANA)
        .removeColumnMask({ ...tableById(table.tableId), column: "region", appliesTo: "*" });
    expect((await remove()).access?.columnMasks).toHaveLength(1);
    await remove();
    expect((await lab.decisions(table.tableId)).slice(1)).toMatchObject([
      { type: "COLUMN_MASK_SET", details: { column: "region", applies_to: "*", mask: "hash" } },
      { type: "COLUMN_MASK_SET", details: { mask: "null", previous: "hash" } },
      { type: "COLUMN_MASK_SET", details: { applies_to: "role:reader", mask: "last" } },
      { type: "COLUMN_MASK_REMOVED", details: { mask: "null" } },
    ]);
  });

  test.each([
    [{ column: "no_such" }],
    [{ column: "" }],
    [{ mask: "upper(region)" }],
    [{ appliesTo: "role:" }],
    [{ appliesTo: "" }],
  ])("refuse %j", async (patch) => {
    const table = await aTable();
    await expect(setMask(table, patch)).rejects.toMatchObject({ kind: "invalid" });
    expect((await accessOf(table)).columnMasks).toEqual([]);
  });

  test("are bounded in number", async () => {
    const table = await aTable();
    await lab.deps.pool.query(
      `insert into column_mask select $1, 'region', 's' || n, 'null', 'ana', now()
       from generate_series(1, 100) n`,
      [table.tableId],
    );
    await expect(setMask(table)).rejects.toMatchObject({ reason: "TOO_MANY_RULES" });
    await setMask(table, { appliesTo: "s1" });
  });
});

describe("a commit with other columns", () => {
  const commit = async (table: Table, columns: typeof COLUMNS) =>
    lab.as(ANA).commitTable({
      ...tableById(table.tableId),
      operation: CommitOperation.REPLACE,
      files: [await putFile(lab.store, table)],
      columns,
    });

  test("is refused where it leaves out a column with a filter or mask, or changes its type, until that is removed", async () => {
    const table = await aTable();
    await setFilter(table);
    await setMask(table, { column: "id" });
    const without = COLUMNS.filter(({ name }) => name !== "region");
    const renamed = COLUMNS.map((each) => (each.name === "id" ? { ...each, name: "id2" } : each));
    const retyped = COLUMNS.map((each) =>
      each.name === "id" ? { ...each, type: "VARCHAR" } : each,
    );
    for (const columns of [without, renamed, retyped]) {
      await expect(commit(table, columns)).rejects.toMatchObject({
        kind: "precondition",
        reason: "COLUMN_IN_POLICY",
      });
    }
    expect((await tableNow(lab, table.tableId)).changeVersion).toBe(table.changeVersion);
    // Others may come and go, and a type may widen.
    await commit(
      table,
      COLUMNS.filter(({ name }) => name !== "ok").map((each) =>
        each.name === "id" ? { ...each, type: "HUGEINT" } : each,
      ),
    );
    await lab.access(ANA).removeRowFilter({ ...tableById(table.tableId), name: "eu-only" });
    await commit(table, without);
  });
});

describe("while a table is dropped", () => {
  test("T27 no grant applies, no access is changed, and who may restore it sees what there is", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const who = somebody();
    await grant(lab, table, who, "read", "write", "drop");
    await lab.as(who).getTable(tableById(table.tableId));
    await lab.as(ANA).dropTable(tableById(table.tableId));
    for (const error of await eachRefused([
      lab.as(who).getTable(tableById(table.tableId)),
      lab.as(who).undropTable(tableById(table.tableId)),
      lab.as(who).listTableFiles(tableById(table.tableId)),
      lab.access(who).getTableAccess(tableById(table.tableId)),
    ]))
      expect(error).toMatchObject({ reason: "RIGHT_MISSING" });
    for (const error of await eachRefused([
      lab.access(ANA).grantTable({ ...tableById(table.tableId), subject: "ben", right: "read" }),
      lab
        .access(ANA)
        .revokeTable({ ...tableById(table.tableId), subject: who.subject, right: "read" }),
      lab.access(ANA).removeRowFilter({ ...tableById(table.tableId), name: "x" }),
      lab
        .access(ANA)
        .removeColumnMask({ ...tableById(table.tableId), column: "id", appliesTo: "*" }),
      setFilter(table, { column: "id", values: ["1"] }),
      setMask(table, { column: "id" }),
    ]))
      expect(error).toMatchObject({ kind: "precondition", reason: "TABLE_DROPPED" });
    // The owner, and whoever may drop by a role.
    for (const viewer of [person("ana"), somebody("data_engineer"), ROOT]) {
      expect(await accessOf(table, viewer)).toMatchObject({ applies: false, grants: [{}, {}, {}] });
    }
    await expect(accessOf(table, somebody("writer"))).rejects.toMatchObject({
      reason: "RIGHT_MISSING",
    });
  });

  test("T28 an undrop brings all access back, equal to before", async () => {
    const place = newPlace(environment);
    const table = await aTableAt(place);
    const [reader, dropper] = [somebody(), somebody()];
    await grant(lab, table, reader, "read");
    await grant(lab, table, dropper, "write", "drop");
    await setFilter(table, { appliesTo: reader.subject });
    await setFilter(table, { name: "big", column: "id", operator: "in", values: ["1", "2"] });
    await setMask(table, { appliesTo: "role:reader" });
    const before = await accessOf(table);
    const filesBefore = await lab
      .as(reader)
      .listTableFiles({ ...tableById(table.tableId), appliesPolicies: true });
    await lab.as(dropper).dropTable(tableById(table.tableId));
    expect(await accessOf(table)).toEqual({ ...before, applies: false });
    await lab.as(ANA).undropTable(tableByName(place));
    expect(await accessOf(table)).toEqual(before);
    const filesAfter = await lab
      .as(reader)
      .listTableFiles({ ...tableById(table.tableId), appliesPolicies: true });
    expect({ ...filesAfter, table: undefined }).toEqual({ ...filesBefore, table: undefined });
    expect(filesAfter.table?.rights).toEqual(["table.read"]);
  });

  test("T27 a table that gets its name meanwhile inherits nothing", async () => {
    const place = newPlace(environment);
    const table = await aTableAt(place);
    const who = somebody();
    await grant(lab, table, who, "read");
    await lab.as(ANA).dropTable(tableById(table.tableId));
    const namesake = await aTableAt(place);
    await expect(lab.as(who).getTable(tableByName(place))).rejects.toMatchObject({
      reason: "RIGHT_MISSING",
    });
    expect(await accessOf(namesake)).toMatchObject({ grants: [], rowFilters: [], columnMasks: [] });
  });

  test("T30 a purge forgets all of it, and nothing of another table", async () => {
    const [table, other] = [await aTable(), await aTable()];
    for (const each of [table, other]) {
      await grant(lab, each, { subject: "ben" }, "read");
      await setFilter(each);
      await setMask(each);
    }
    await lab.as(ANA).dropTable(tableById(table.tableId));
    await lab.timePasses(8 * DAY_MS);
    const { signal } = new AbortController();
    await beginDuePurges(lab.deps, signal);
    while (await purgeNextTable(lab.deps, { signal }));
    const left = async ({ tableId }: Table) => {
      const { rows } = await lab.deps.pool.query<{ count: bigint }>(
        `select (select count(*) from table_grant where table_id = $1)
           + (select count(*) from row_filter where table_id = $1)
           + (select count(*) from column_mask where table_id = $1) as count`,
        [tableId],
      );
      return Number(rows[0]?.count);
    };
    expect(await left(table)).toBe(0);
    expect(await left(other)).toBe(3);
  });

  const aTableAt = async (name: ReturnType<typeof newPlace>): Promise<Table> =>
    present((await lab.as(ANA).createTable({ name, columns: COLUMNS })).table);
});

test("staged tables take grants by their id before anybody sees them", async () => {
  const staged = present(
    (await lab.as(ANA).createTable({ name: newPlace(environment), staged: true })).table,
  );
  const who = somebody();
  await grant(lab, staged, who, "write");
  const { table } = await lab.as(who).commitTable({
    ...tableById(staged.tableId),
    operation: CommitOperation.APPEND,
    files: [await putFile(lab.store, staged)],
  });
  expect(table).toMatchObject({ owner: "ana", rights: ["table.read", "table.write"] });
  expect(await typesAfterCreation(staged)).toEqual(["TABLE_CREATED"]);
});

test("a table of another tenant has no access to show", async () => {
  const table = await liveTable(lab, newPlace(environment));
  const stranger: Principal = { ...somebody("superadmin"), tenant: "other" };
  for (const error of await eachRefused([
    accessOf(table, stranger),
    setFilter(table, { column: "id", values: ["1"] }, stranger),
    setMask(table, { column: "id" }, stranger),
  ]))
    expect(error).toMatchObject({ reason: "TABLE_NOT_FOUND" });
});
