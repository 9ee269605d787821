import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ObjectStoreError } from "@lapse/object-store";
import { CommitOperation, type Table } from "@lapse/proto/catalog";
import { TableState } from "@lapse/proto/events";
import { beginDuePurges } from "../src/app/begin-purges.ts";
import { aName, DAY_MS, type Lab, openLab } from "./lab/lab.ts";
import { putFile } from "./lab/table-files.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  present,
  stagedTable,
  tableById,
  tableByName,
  tableNow,
} from "./lab/tables.ts";

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-drops");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const drop = async ({ tableId }: Pick<Table, "tableId">) =>
  present((await lab.asPerson("ana").dropTable(tableById(tableId))).table);
const undrop = async ({ tableId }: Pick<Table, "tableId">, asName = "") =>
  present((await lab.asPerson("ana").undropTable({ ...tableById(tableId), asName })).table);
const inEnvironment = (name: string) =>
  ({ environment: { ref: { case: "name", value: name } } }) as const;
const listDropped = async (name: string) =>
  (await lab.asPerson("dora").listDroppedTables(inEnvironment(name))).tables;

describe("DropTable", () => {
  test("takes the table out of loads and lists, keeps its files, and says until when it can be undone", async () => {
    const place = newPlace(environment);
    const table = await filledTable(lab, place);
    const dropped = await drop(table);
    expect(dropped).toMatchObject({
      state: TableState.DROPPED,
      dropReason: "request",
      changeVersion: 3n,
    });
    const kept =
      timestampDate(present(dropped.undoUntil)).getTime() -
      timestampDate(present(dropped.droppedAt)).getTime();
    expect(kept).toBe(7 * DAY_MS);
    expect(dropped.lastChangedAt).toEqual(table.lastChangedAt);
    const reader = lab.asPerson("rita", "reader");
    await expect(reader.getTable(tableByName(place))).rejects.toMatchObject({
      reason: "TABLE_NOT_FOUND",
    });
    await expect(reader.listTableFiles(tableByName(place))).rejects.toMatchObject({
      reason: "TABLE_NOT_FOUND",
    });
    expect(
      (await reader.listTables({ ...inEnvironment(environment), limit: 1000 })).tables.map(
        ({ name }) => name,
      ),
    ).not.toContain(place.name);
    expect((await lab.store.list(table.bucket, { prefix: table.keyPrefix })).objects).toHaveLength(
      1,
    );
    expect((await lab.events(table.tableId)).at(-1)).toMatchObject({
      subject: "catalog.table.dropped",
      message: { reason: "request", actor: "ana", table: { state: "TABLE_STATE_DROPPED" } },
    });
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
      type: "TABLE_DROPPED",
      actor: "ana",
      reason: "request",
      outcome: "DECISION_OUTCOME_DONE",
      details: { undo_until: expect.any(String) },
    });
    expect(await lab.metric("lapse_tables_dropped_total")).toMatch(/reason="request".* [1-9]/);
  });

  test("is refused a second time, and repeats its answer for the same idempotency key", async () => {
    const place = newPlace(environment);
    await filledTable(lab, place);
    const options = { idempotencyKey: aName() };
    const first = await lab.asPerson("ana").dropTable(tableByName(place), options);
    expect(await lab.asPerson("ana").dropTable(tableByName(place), options)).toEqual(first);
    await expect(drop(present(first.table))).rejects.toMatchObject({ reason: "TABLE_DROPPED" });
    await expect(lab.asPerson("ana").dropTable(tableByName(place))).rejects.toMatchObject({
      kind: "not_found",
    });
  });

  test("frees the name at once", async () => {
    const place = newPlace(environment);
    const first = await filledTable(lab, place);
    await drop(first);
    const second = await liveTable(lab, place);
    expect(second.tableId).not.toBe(first.tableId);
    expect(second.keyPrefix).not.toBe(first.keyPrefix);
  });

  test("T21 is refused while a write runs, until the hold is released", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const { hold } = await lab.asPerson("will", "writer").createHold(tableById(table.tableId));
    await expect(drop(table)).rejects.toMatchObject({
      reason: "TABLE_HELD",
      message: expect.stringContaining("will"),
    });
    await lab.asPerson("ana").releaseHold({ holdId: present(hold).holdId });
    await expect(drop(table)).resolves.toBeDefined();
  });

  test("gives a staged table up at once", async () => {
    const staged = await stagedTable(lab, newPlace(environment));
    expect(await drop(staged)).toMatchObject({ state: TableState.PURGING, dropReason: "" });
    await expect(drop(staged)).rejects.toMatchObject({ reason: "TABLE_PURGING" });
    expect(await lab.events(staged.tableId)).toMatchObject([
      { message: { change: "TABLE_CHANGE_STATE" } },
    ]);
  });

  test("needs the right to drop", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await expect(
      lab.asPerson("will", "writer").dropTable(tableById(table.tableId)),
    ).rejects.toMatchObject({ kind: "denied" });
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
      type: "AUTHORIZATION_DENIED",
      actor: "will",
    });
    expect((await tableNow(lab, table.tableId)).state).toBe(TableState.LIVE);
  });
});

describe("the database", () => {
  test.each([
    ["a dropped table without a time to purge it at", "state = 'dropped'"],
    ["a live table with one", "dropped_at = now(), drop_reason = 'request', undo_until = now()"],
    ["a purged table that was never purged", "state = 'purged'"],
    ["a location that leads elsewhere", "key_prefix = 'dev/../'"],
    ["a location that is everything", "key_prefix = ''"],
  ])("refuses %s", async (_, change) => {
    const table = await liveTable(lab, newPlace(environment));
    const changed = lab.deps.pool.query(`update catalog_table set ${change} where table_id = $1`, [
      table.tableId,
    ]);
    await expect(changed).rejects.toMatchObject({ code: "23514" });
  });
});

describe("UndropTable", () => {
  test("T28 brings the table back as it was, counted as activity and as a change of retention", async () => {
    const place = newPlace(environment);
    const table = await filledTable(lab, place, 3);
    await lab.asPerson("ana").touchTable(tableById(table.tableId));
    await lab.asPerson("ana").updateTable({ ...tableById(table.tableId), description: "trial" });
    const {
      table: before,
      snapshotId,
      files,
    } = await lab.asPerson("ana").listTableFiles(tableByName(place));
    await drop(table);
    const back = await undrop(table);
    expect(back).toEqual({
      ...before,
      changeVersion: 6n,
      retentionVersion: 6n,
      lastChangedAt: back.lastChangedAt,
      restoredAt: back.lastChangedAt,
    });
    expect(
      timestampDate(present(back.restoredAt)) > timestampDate(present(before?.lastChangedAt)),
    ).toBe(true);
    const after = await lab.asPerson("ana").listTableFiles(tableByName(place));
    expect(after).toMatchObject({ snapshotId, files });
    expect((await lab.events(table.tableId)).at(-1)).toMatchObject({
      subject: "catalog.table.restored",
      message: { actor: "ana", table: { state: "TABLE_STATE_LIVE", retentionVersion: "6" } },
    });
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
      type: "TABLE_RESTORED",
      actor: "ana",
    });
    // It is a table like any other again.
    const file = await putFile(lab.store, back);
    await lab.asPerson("ana").commitTable({
      ...tableById(table.tableId),
      operation: CommitOperation.APPEND,
      files: [file],
    });
    await expect(drop(table)).resolves.toMatchObject({ state: TableState.DROPPED });
  });

  test("T28 by name brings back the generation dropped last", async () => {
    const place = newPlace(environment);
    const first = await filledTable(lab, place);
    await drop(first);
    await lab.timePasses(1_000);
    const second = await filledTable(lab, place);
    await drop(second);
    const { table } = await lab.asPerson("ana").undropTable(tableByName(place));
    expect(table?.tableId).toBe(second.tableId);
  });

  test("T29 lists the generations of a name apart, and brings one back under another name", async () => {
    const name = await newEnvironment(lab);
    const place = newPlace(name);
    const first = await filledTable(lab, place);
    await drop(first);
    await lab.timePasses(1_000);
    const second = await filledTable(lab, place);
    await drop(second);
    await filledTable(lab, place);
    expect((await listDropped(name)).map(({ tableId }) => tableId)).toEqual([
      second.tableId,
      first.tableId,
    ]);
    await expect(undrop(first)).rejects.toMatchObject({
      kind: "already_exists",
      reason: "NAME_TAKEN",
      message: expect.stringContaining("--as"),
    });
    const back = await undrop(first, `${place.name}_old`);
    expect(back).toMatchObject({
      tableId: first.tableId,
      name: `${place.name}_old`,
      state: TableState.LIVE,
    });
    expect((await lab.decisions(first.tableId)).at(-1)).toMatchObject({
      details: { former_name: `bronze.${place.name}` },
    });
    await expect(undrop(second, "no good")).rejects.toMatchObject({
      violations: [{ field: "/as_name" }],
    });
    expect((await listDropped(name)).map(({ tableId }) => tableId)).toEqual([second.tableId]);
  });

  test("T29 pages through dropped tables, the last dropped first", async () => {
    const name = await newEnvironment(lab);
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      const table = await filledTable(lab, newPlace(name));
      await drop(table);
      ids.unshift(table.tableId);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await lab
        .asPerson("ana")
        .listDroppedTables({ ...inEnvironment(name), limit: 2, cursor });
      seen.push(...page.tables.map(({ tableId }) => tableId));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).toEqual(ids);
  });

  test("T28 is refused while files are missing, cut or changed, saying how many and which", async () => {
    const table = await filledTable(lab, newPlace(environment), 3);
    const { files } = await lab.asPerson("ana").listTableFiles(tableById(table.tableId));
    await drop(table);
    const [a, b] = files.map(({ path }) => table.keyPrefix + path);
    await lab.store.delete(table.bucket, present(a));
    await lab.store.put(table.bucket, present(b), Buffer.from("PAR1"));
    await expect(undrop(table)).rejects.toMatchObject({
      kind: "precondition",
      reason: "FILES_MISSING",
      message: expect.stringContaining("2 of its 3 files"),
      details: { unreadable_files: "2", first_file: files[0]?.path },
    });
    expect((await tableNow(lab, table.tableId)).state).toBe(TableState.DROPPED);
    // With its files back it comes back: the refusal changed nothing.
    for (const { path } of files)
      await lab.store.put(table.bucket, table.keyPrefix + path, Buffer.from(`PAR1${path}PAR1`));
    await expect(undrop(table)).resolves.toMatchObject({ state: TableState.LIVE });
  });

  test("T28 succeeds only when the store has said that the files are there", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await drop(table);
    lab.store.interfere((verb) => {
      if (verb === "head") throw new ObjectStoreError("unavailable", "the disk does not answer");
    });
    await expect(undrop(table)).rejects.toMatchObject({ kind: "unavailable" });
    lab.store.interfere();
    await expect(undrop(table)).resolves.toBeDefined();
  });

  test("T28 does not take a bucket that is gone for files that are there", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await drop(table);
    lab.store.interfere((verb) => {
      if (verb === "head") throw new ObjectStoreError("not_found", "there is no such bucket");
    });
    await expect(undrop(table)).rejects.toMatchObject({ reason: "OBJECT_STORE_BUCKET_MISSING" });
    lab.store.interfere();
  });

  test("T30 is refused after the undo period, before, during and after the purge, saying so", async () => {
    const place = newPlace(environment);
    const table = await filledTable(lab, place);
    await drop(table);
    await lab.timePasses(7 * DAY_MS);
    await expect(undrop(table)).rejects.toMatchObject({ reason: "UNDO_PERIOD_OVER" });
    await beginDuePurges(lab.deps, new AbortController().signal);
    await expect(undrop(table)).rejects.toMatchObject({ reason: "TABLE_PURGING" });
    await expect(lab.asPerson("ana").undropTable(tableByName(place))).rejects.toMatchObject({
      reason: "TABLE_PURGING",
    });
    expect((await listDropped(environment)).map(({ tableId }) => tableId)).toContain(table.tableId);
    await lab.deps.pool.query(
      "update catalog_table set state = 'purged', purged_at = now() where table_id = $1",
      [table.tableId],
    );
    await expect(undrop(table)).rejects.toMatchObject({ reason: "UNDO_PERIOD_OVER" });
    await expect(lab.asPerson("ana").getTable(tableById(table.tableId))).rejects.toMatchObject({
      kind: "not_found",
    });
  });

  test("is refused on a live table and for a name that nothing dropped had", async () => {
    const place = newPlace(environment);
    const table = await filledTable(lab, place);
    await expect(undrop(table)).rejects.toMatchObject({ reason: "TABLE_NOT_DROPPED" });
    await expect(lab.asPerson("ana").undropTable(tableByName(place))).rejects.toMatchObject({
      reason: "TABLE_NOT_FOUND",
    });
  });

  test("needs the right to drop; the owner has it without a role", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await drop(table);
    await expect(
      lab.asPerson("will", "writer").undropTable(tableById(table.tableId)),
    ).rejects.toMatchObject({ kind: "denied" });
    const owner = lab.as({ subject: "ana", tenant: "local", roles: [], kind: "person" });
    await expect(owner.undropTable(tableById(table.tableId))).resolves.toBeDefined();
  });

  test("repeats its answer for the same idempotency key, though the table is no longer dropped", async () => {
    const place = newPlace(environment);
    await drop(await filledTable(lab, place));
    const options = { idempotencyKey: aName() };
    const first = await lab.asPerson("ana").undropTable(tableByName(place), options);
    expect(await lab.asPerson("ana").undropTable(tableByName(place), options)).toEqual(first);
    expect(
      (await lab.decisions(present(first.table).tableId)).filter(
        ({ type }) => type === "TABLE_RESTORED",
      ),
    ).toHaveLength(1);
  });
});
