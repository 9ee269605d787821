import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Table } from "@lapse/proto/catalog";
import { TableState } from "@lapse/proto/events";
import { answerDue } from "../src/app/answer-due.ts";
import { updateTable } from "../src/app/update-table.ts";
import { dueNow } from "./lab/due.ts";
import { gate, gatedCall, untilBlocked } from "./lab/gate.ts";
import { aName, type Lab, openLab } from "./lab/lab.ts";
import { storedPaths } from "./lab/table-files.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  present,
  stagedTable,
  type TablePlace,
  tableById,
  tableByName,
  tableNow,
} from "./lab/tables.ts";

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-renames");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const rename = async (
  { tableId }: Pick<Table, "tableId">,
  to: { name?: string; namespace?: string; description?: string },
  as = lab.asPerson("ana"),
): Promise<Table> => present((await as.updateTable({ ...tableById(tableId), ...to })).table);
const get = async (place: TablePlace) =>
  present((await lab.asPerson("ana").getTable(tableByName(place))).table);

describe("UpdateTable with another name", () => {
  test("T13 renames in one change that is activity, with event and decision, and leaves everything else", async () => {
    const place = newPlace(environment);
    const before = await filledTable(lab, place, 2);
    await lab.timePasses(60_000);
    const [name, namespace] = [aName(), "gold.eu"];
    const after = await rename(before, { name, namespace });
    expect(after).toEqual({
      ...before,
      name,
      namespace,
      changeVersion: before.changeVersion + 1n,
      createdAt: after.createdAt,
      lastChangedAt: after.lastChangedAt,
    });
    const moved =
      timestampDate(present(after.lastChangedAt)).getTime() -
      timestampDate(present(after.createdAt)).getTime();
    expect(moved).toBeGreaterThanOrEqual(60_000);
    expect((await lab.events(before.tableId)).at(-1)).toMatchObject({
      subject: "catalog.table.changed",
      message: { change: "TABLE_CHANGE_RENAMED", actor: "ana", table: { name, namespace } },
    });
    expect((await lab.decisions(before.tableId)).at(-1)).toMatchObject({
      type: "TABLE_RENAMED",
      actor: "ana",
      resource: { id: before.tableId, name: `gold.eu.${name}`, environment },
      details: { former_name: `bronze.${place.name}` },
    });
    expect((await get({ environment, namespace, name })).tableId).toBe(before.tableId);
    await expect(get(place)).rejects.toMatchObject({ reason: "TABLE_NOT_FOUND" });
    expect(await storedPaths(lab.store, after)).toHaveLength(2);
  });

  test("the name it has already is no change, no activity and no decision", async () => {
    const before = await liveTable(lab, newPlace(environment));
    expect(await rename(before, { name: before.name, namespace: before.namespace })).toEqual(
      before,
    );
    expect(await lab.events(before.tableId)).toHaveLength(1);
    expect(await lab.decisions(before.tableId)).toHaveLength(1);
  });

  test("description and name together are one change", async () => {
    const before = await liveTable(lab, newPlace(environment));
    const after = await rename(before, { name: aName(), description: "x" });
    expect(after).toMatchObject({ description: "x", changeVersion: before.changeVersion + 1n });
  });

  test("refuses a name that is taken by a live table, and changes nothing", async () => {
    const before = await liveTable(lab, newPlace(environment));
    const other = await liveTable(lab, newPlace(environment));
    await expect(rename(before, { name: other.name })).rejects.toMatchObject({
      kind: "already_exists",
      reason: "NAME_TAKEN",
      message: expect.stringContaining(`bronze.${other.name}`),
    });
    expect(await tableNow(lab, before.tableId)).toEqual(before);
  });

  test("of two tables that want one name at the same time exactly one gets it", async () => {
    const tables = await Promise.all(
      Array.from({ length: 4 }, () => liveTable(lab, newPlace(environment))),
    );
    const name = aName();
    const results = await Promise.allSettled(tables.map((table) => rename(table, { name })));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("frees its former name for another table, which is not the same one", async () => {
    const place = newPlace(environment);
    const first = await filledTable(lab, place);
    await rename(first, { name: aName() });
    const second = await filledTable(lab, place);
    expect(second.tableId).not.toBe(first.tableId);
    expect(second.keyPrefix).not.toBe(first.keyPrefix);
  });

  test("two tables swap their names through a third, each keeping its own files", async () => {
    const [a, b] = [
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment), 2),
    ];
    await rename(a, { name: aName() });
    await rename(b, { name: a.name });
    await rename(a, { name: b.name });
    expect((await tableNow(lab, a.tableId)).fileCount).toBe(1);
    expect((await get({ environment, namespace: "bronze", name: a.name })).fileCount).toBe(2);
  });

  test("works on a staged table, by its id: it goes live under its new name", async () => {
    const staged = await stagedTable(lab, newPlace(environment));
    const name = aName();
    await rename(staged, { name });
    await lab.asPerson("ana").commitTable({ ...tableById(staged.tableId), operation: 1 });
    expect((await get({ environment, namespace: "bronze", name })).tableId).toBe(staged.tableId);
  });

  test("works on a view, and while a write holds the table: its location stays", async () => {
    const view = await liveTable(lab, newPlace(environment), 2);
    await expect(rename(view, { name: aName() })).resolves.toBeDefined();
    const held = await filledTable(lab, newPlace(environment));
    await lab.asPerson("ana").createHold(tableById(held.tableId));
    await expect(rename(held, { name: aName() })).resolves.toMatchObject({
      keyPrefix: held.keyPrefix,
    });
  });

  test("needs the right to drop: the table is gone under its former name; a description needs that to write", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const writer = lab.asPerson("will", "writer");
    await expect(rename(table, { name: aName() }, writer)).rejects.toMatchObject({
      kind: "denied",
      details: { right: "table.drop" },
    });
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
      type: "AUTHORIZATION_DENIED",
      actor: "will",
      details: { right: "table.drop" },
    });
    await expect(rename(table, { name: aName(), description: "x" }, writer)).rejects.toMatchObject({
      details: { right: "table.drop" },
    });
    await expect(rename(table, { description: "x" }, writer)).resolves.toBeDefined();
    const ana = lab.as({ subject: "ana", tenant: "local", roles: [], kind: "person" });
    await expect(rename(table, { name: aName() }, ana)).resolves.toBeDefined();
  });

  test("names every fault at once", async () => {
    const table = await liveTable(lab, newPlace(environment));
    await expect(
      rename(table, { name: "a.b", namespace: "..", description: "\0" }),
    ).rejects.toMatchObject({
      kind: "invalid",
      violations: [{ field: "/description" }, { field: "/name" }, { field: "/namespace" }],
    });
  });

  test("repeats its answer for the same idempotency key", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const request = { ...tableById(table.tableId), name: aName() };
    const options = { idempotencyKey: aName() };
    const first = await lab.asPerson("ana").updateTable(request, options);
    expect(await lab.asPerson("ana").updateTable(request, options)).toEqual(first);
    expect((await tableNow(lab, table.tableId)).changeVersion).toBe(2n);
  });

  test("a dropped table keeps its name until it is back", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await lab.asPerson("ana").dropTable(tableById(table.tableId));
    await expect(rename(table, { name: aName() })).rejects.toMatchObject({
      reason: "TABLE_DROPPED",
    });
  });
});

describe("a rename during a sweep", () => {
  test("keeps the table that a due event named before", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const due = await dueNow(lab, table);
    const name = aName();
    await rename(table, { name });
    lab.evaluator.answer((_, usual) => ({ ...usual, seen: { ...due.due } }));
    await answerDue(lab.deps, [due]);
    lab.evaluator.answer((_, usual) => usual);
    expect((await tableNow(lab, table.tableId)).state).toBe(TableState.LIVE);
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
      type: "TABLE_KEPT",
      reason: "changed",
      resource: { name: `bronze.${name}` },
    });
  });

  test("never lets the drop hit the table that took the name over", async () => {
    const place = newPlace(environment);
    const old = await filledTable(lab, place);
    const due = await dueNow(lab, old);
    await rename(old, { name: aName() });
    const heir = await filledTable(lab, place);
    await answerDue(lab.deps, [due]);
    expect((await get(place)).tableId).toBe(heir.tableId);
    expect((await tableNow(lab, old.tableId)).state).toBe(TableState.LIVE);
  });

  test("a renamed table that is due again is dropped under its new name, with its files, and comes back so", async () => {
    const table = await filledTable(lab, newPlace(environment), 2);
    const name = aName();
    const renamed = await rename(table, { name });
    await answerDue(lab.deps, [await dueNow(lab, renamed)]);
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
      type: "TABLE_DROPPED",
      resource: { name: `bronze.${name}` },
    });
    const back = await lab
      .asPerson("ana")
      .undropTable(tableByName({ environment, namespace: "bronze", name }));
    expect(back.table).toMatchObject({ tableId: table.tableId, fileCount: 2 });
    expect(await storedPaths(lab.store, table)).toHaveLength(2);
  });
});

describe("a call that names a table which is renamed while it waits", () => {
  test("does not drop what has another name by now", async () => {
    const place = newPlace(environment);
    const table = await filledTable(lab, place);
    const [begun, after] = [gate(), gate()];
    const renaming = updateTable(lab.deps, gatedCall({ begun, after }), {
      table: { kind: "id", tableId: table.tableId },
      name: aName(),
    });
    await begun.passed;
    const dropping = lab.asPerson("ana").dropTable(tableByName(place));
    const refused = expect(dropping).rejects.toMatchObject({ reason: "TABLE_NOT_FOUND" });
    await untilBlocked(lab);
    after.open();
    await Promise.all([renaming, refused]);
    expect((await tableNow(lab, table.tableId)).state).toBe(TableState.LIVE);
  });

  test("by id means the table, whatever its name", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const [begun, after] = [gate(), gate()];
    const renaming = updateTable(lab.deps, gatedCall({ begun, after }), {
      table: { kind: "id", tableId: table.tableId },
      name: aName(),
    });
    await begun.passed;
    const dropping = lab.asPerson("ana").dropTable(tableById(table.tableId));
    await untilBlocked(lab);
    after.open();
    await Promise.all([renaming, dropping]);
    expect((await tableNow(lab, table.tableId)).state).toBe(TableState.DROPPED);
  });
});
