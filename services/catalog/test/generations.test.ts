import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Table } from "@lapse/proto/catalog";
import { TableState } from "@lapse/proto/events";
import { answerDue } from "../src/app/answer-due.ts";
import { beginDuePurges } from "../src/app/begin-purges.ts";
import { purgeNextTable } from "../src/app/purge-table.ts";
import { findTable } from "../src/store/tables.ts";
import { dueNow } from "./lab/due.ts";
import { aName, type Lab, openLab } from "./lab/lab.ts";
import { storedPaths } from "./lab/table-files.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  present,
  type TablePlace,
  tableById,
  tableNow,
} from "./lab/tables.ts";

const { signal } = new AbortController();

let lab: Lab;
let brief: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-generations");
  brief = await openLab("catalog-no-undo-days", 0);
  environment = await newEnvironment(lab);
});
afterAll(async () => {
  await lab.close();
  await brief.close();
});

const drop = async ({ tableId }: Pick<Table, "tableId">, at = lab): Promise<Table> =>
  present((await at.asPerson("ana").dropTable(tableById(tableId))).table);
const generations = async (
  { namespace, name }: Pick<TablePlace, "namespace" | "name">,
  page: { limit?: number; cursor?: string } = {},
) =>
  lab.asPerson("dora").listDroppedTables({
    environment: { ref: { case: "name", value: environment } },
    namespace,
    name,
    ...page,
  });

describe("the generations of a name", () => {
  test("T29 are listed without any other, the last dropped first, told apart by id, time and reason", async () => {
    const place = newPlace(environment);
    const expired = await filledTable(lab, place);
    await answerDue(lab.deps, [await dueNow(lab, expired)]);
    await lab.timePasses(60_000);
    const asked = await drop(await filledTable(lab, place));
    await lab.timePasses(60_000);
    const again = await drop(await filledTable(lab, place));
    // Not of this name, though alike, nor of this namespace, nor live.
    await drop(await filledTable(lab, { ...place, name: `${place.name}_x` }));
    await drop(await filledTable(lab, { ...place, namespace: "bronze.x" }));
    await filledTable(lab, place);
    const { tables } = await generations(place);
    expect(tables.map(({ tableId, dropReason }) => [tableId, dropReason])).toEqual([
      [again.tableId, "request"],
      [asked.tableId, "request"],
      [expired.tableId, "retention"],
    ]);
    expect(new Set(tables.map(({ droppedAt }) => droppedAt?.seconds)).size).toBe(3);
    expect(new Set(tables.map(({ undoUntil }) => undoUntil?.seconds)).size).toBe(3);
  });

  test("T29 are paged like all dropped tables", async () => {
    const place = newPlace(environment);
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) {
      ids.unshift((await drop(await filledTable(lab, place))).tableId);
      await lab.timePasses(1_000);
    }
    const first = await generations(place, { limit: 2 });
    const second = await generations(place, { limit: 2, cursor: first.nextCursor });
    expect([...first.tables, ...second.tables].map(({ tableId }) => tableId)).toEqual(ids);
    expect(second.nextCursor).toBe("");
  });

  test("T29 need a whole name", async () => {
    for (const part of [
      { namespace: "bronze", name: "" },
      { namespace: "", name: "trial" },
    ]) {
      await expect(generations(part)).rejects.toMatchObject({ kind: "invalid" });
    }
  });

  test("T29 come back each by its id, the older under its own name while that is free", async () => {
    const place = newPlace(environment);
    const older = await drop(await filledTable(lab, place, 2));
    await lab.timePasses(1_000);
    const younger = await drop(await filledTable(lab, place));
    const ana = lab.asPerson("ana");
    const back = present((await ana.undropTable(tableById(older.tableId))).table);
    expect(back).toMatchObject({ ...place, fileCount: 2 });
    await expect(ana.undropTable(tableById(younger.tableId))).rejects.toMatchObject({
      kind: "already_exists",
      reason: "NAME_TAKEN",
      message: expect.stringContaining("--as NEWNAME"),
    });
    const asName = aName();
    await ana.undropTable({ ...tableById(younger.tableId), asName });
    expect(await tableNow(lab, younger.tableId)).toMatchObject({ name: asName, fileCount: 1 });
  });

  test("T29 a name that another table was renamed to is taken", async () => {
    const place = newPlace(environment);
    const dropped = await drop(await filledTable(lab, place));
    const other = await liveTable(lab, newPlace(environment));
    const ana = lab.asPerson("ana");
    await ana.updateTable({ ...tableById(other.tableId), name: place.name });
    await expect(ana.undropTable(tableById(dropped.tableId))).rejects.toMatchObject({
      reason: "NAME_TAKEN",
    });
    await expect(
      ana.undropTable({ ...tableById(dropped.tableId), asName: place.name }),
    ).rejects.toMatchObject({ reason: "NAME_TAKEN" });
    expect((await tableNow(lab, dropped.tableId)).state).toBe(TableState.DROPPED);
  });
});

describe("without undo days", () => {
  const purge = async () => {
    await beginDuePurges(brief.deps, signal);
    while (await purgeNextTable(brief.deps, { signal }));
  };
  const stateOf = async ({ tableId }: Table) =>
    (await findTable(brief.deps.pool, tableId))?.table.state;

  test("T27 a drop by request is purged by the next round of the job, and cannot be undone before it either", async () => {
    const table = await filledTable(brief, newPlace(await newEnvironment(brief)));
    await drop(table, brief);
    await expect(brief.asPerson("ana").undropTable(tableById(table.tableId))).rejects.toMatchObject(
      { reason: "UNDO_PERIOD_OVER" },
    );
    await purge();
    expect(await stateOf(table)).toBe("purged");
    expect(await storedPaths(brief.store, table)).toEqual([]);
  });

  test("T27 an expiry keeps its files for a day all the same", async () => {
    const table = await filledTable(brief, newPlace(await newEnvironment(brief)));
    await answerDue(brief.deps, [await dueNow(brief, table)]);
    await purge();
    expect(await stateOf(table)).toBe("dropped");
    await expect(
      brief.asPerson("ana").undropTable(tableById(table.tableId)),
    ).resolves.toBeDefined();
  });
});
