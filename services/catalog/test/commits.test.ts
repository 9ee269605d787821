import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ObjectStoreError } from "@lapse/object-store";
import { CommitOperation, type CommitTableResponse, type Table } from "@lapse/proto/catalog";
import { TableKind, TableState } from "@lapse/proto/events";
import { aName, type Lab, openLab } from "./lab/lab.ts";
import { type LabFile, putFile, storedPaths } from "./lab/table-files.ts";
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
  lab = await openLab("catalog-commits");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const { APPEND, REPLACE, MAINTAIN } = CommitOperation;

const commit = (
  { tableId }: Pick<Table, "tableId">,
  files: readonly LabFile[],
  more: { operation?: CommitOperation; expectedChangeVersion?: bigint; holdId?: string } = {},
): Promise<CommitTableResponse> =>
  lab
    .asPerson("ana")
    .commitTable({ ...tableById(tableId), operation: APPEND, files: [...files], ...more });

const pathsOf = async ({ tableId }: Pick<Table, "tableId">) =>
  (await lab.asPerson("ana").listTableFiles(tableById(tableId))).files.map(({ path }) => path);

describe("CommitTable", () => {
  test("makes a staged table visible with its first files", async () => {
    const place = newPlace(environment);
    const staged = await stagedTable(lab, place);
    const file = await putFile(lab.store, staged);
    const { table, snapshotId } = await commit(staged, [file]);
    expect(table).toMatchObject({
      state: TableState.LIVE,
      changeVersion: 2n,
      rowCount: 10n,
      byteSize: file.byteSize,
      fileCount: 1,
    });
    expect((await lab.asPerson("rita", "reader").getTable(tableByName(place))).table).toEqual({
      ...table,
      rights: ["table.read"],
    });
    const listed = await lab.asPerson("rita", "reader").listTableFiles(tableByName(place));
    expect(listed).toMatchObject({ snapshotId, files: [file] });
    expect(listed.files[0]?.uri).toBe(`${staged.location}/${file.path}`);
    expect(await lab.events(staged.tableId)).toMatchObject([{ subject: "catalog.table.created" }]);
    expect(await lab.decisions(staged.tableId)).toMatchObject([
      { type: "TABLE_CREATED", actor: "ana" },
    ]);
  });

  test("fails the first commit when the name was taken meanwhile, and leaves the table staged", async () => {
    const place = newPlace(environment);
    const staged = await stagedTable(lab, place);
    const file = await putFile(lab.store, staged);
    const winner = await liveTable(lab, place);
    await expect(commit(staged, [file])).rejects.toMatchObject({
      kind: "already_exists",
      reason: "NAME_TAKEN",
    });
    expect((await tableNow(lab, staged.tableId)).state).toBe(TableState.STAGED);
    expect(await lab.events(staged.tableId)).toEqual([]);
    // Only the name was in the way.
    await lab.asPerson("ana").dropTable(tableById(winner.tableId));
    await expect(commit(staged, [file])).resolves.toMatchObject({
      table: { state: TableState.LIVE },
    });
  });

  test("gives the name to exactly one of two staged tables", async () => {
    const place = newPlace(environment);
    const staged = [await stagedTable(lab, place), await stagedTable(lab, place)];
    const ends = await Promise.allSettled(staged.map((table) => commit(table, [])));
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("T13 appends, replaces and maintains, each with its event", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const [a, b, c, d] = [
      await putFile(lab.store, table),
      await putFile(lab.store, table),
      await putFile(lab.store, table, { rowCount: 20n }),
      await putFile(lab.store, table, { rowCount: 7n }),
    ];
    await commit(table, [a]);
    await commit(table, [b]);
    expect((await pathsOf(table)).sort()).toEqual([a.path, b.path].sort());
    await commit(table, [c], { operation: MAINTAIN });
    expect(await pathsOf(table)).toEqual([c.path]);
    const { table: last } = await commit(table, [d], { operation: REPLACE });
    expect(await pathsOf(table)).toEqual([d.path]);
    expect(last).toMatchObject({
      changeVersion: 5n,
      retentionVersion: 0n,
      rowCount: 7n,
      fileCount: 1,
    });
    const changes = (await lab.events(table.tableId)).map(({ message }) => message.change);
    expect(changes).toEqual([
      undefined,
      "TABLE_CHANGE_WRITTEN",
      "TABLE_CHANGE_WRITTEN",
      "TABLE_CHANGE_MAINTAINED",
      "TABLE_CHANGE_WRITTEN",
    ]);
    // What was replaced stays in the store for those who read it now.
    expect((await storedPaths(lab.store, table)).sort()).toEqual(
      [a.path, b.path, c.path, d.path].sort(),
    );
  });

  test("keeps files that a replace names again, and takes no path twice", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const [a, b, c] = [
      await putFile(lab.store, table),
      await putFile(lab.store, table),
      await putFile(lab.store, table),
    ];
    await commit(table, [a, b]);
    const { table: after } = await commit(table, [b, c], { operation: REPLACE });
    expect(after).toMatchObject({ rowCount: 20n, fileCount: 2 });
    expect((await pathsOf(table)).sort()).toEqual([b.path, c.path].sort());
    await expect(commit(table, [b])).rejects.toMatchObject({ reason: "FILE_ALREADY_COMMITTED" });
    await expect(commit(table, [a])).rejects.toMatchObject({ reason: "FILE_PATH_USED" });
    await expect(
      commit(table, [{ ...b, rowCount: 9n }], { operation: REPLACE }),
    ).rejects.toMatchObject({ reason: "FILE_DIFFERS" });
    await expect(commit(table, [b], { operation: MAINTAIN })).rejects.toMatchObject({
      reason: "ROWS_DIFFER",
    });
  });

  test("takes no file that is missing, of another size, or no whole Parquet, and names each", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const whole = await putFile(lab.store, table);
    const cut = await putFile(lab.store, table, { content: "PAR1 and then it stops" });
    const csv = await putFile(lab.store, table, { path: "data/x.csv", content: "a,b" });
    const missing = { path: "data/none.parquet", byteSize: 9n, rowCount: 1n };
    await expect(
      commit(table, [whole, missing, { ...csv, byteSize: 4n }, cut]),
    ).rejects.toMatchObject({
      kind: "invalid",
      reason: "FILES_MISSING",
      violations: [
        { field: "/files/1", description: expect.stringContaining("is not in the object store") },
        { field: "/files/2", description: expect.stringContaining("has 3 bytes") },
        { field: "/files/3", description: expect.stringContaining("PAR1") },
      ],
    });
    expect(await pathsOf(table)).toEqual([]);
    await expect(commit(table, [whole, csv])).resolves.toBeDefined();
  });

  test.each(["../other/x", "/x", "a/../../x", "a\\b", "", "a//b", "x*"])(
    "refuses the path %j",
    async (path) => {
      const table = await liveTable(lab, newPlace(environment));
      await expect(commit(table, [{ path, byteSize: 1n, rowCount: 1n }])).rejects.toMatchObject({
        kind: "invalid",
        violations: [{ field: "/files/0/path" }],
      });
    },
  );

  test("is refused with a conflict when the table moved on from the expected version", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const stale = commit(table, [], { expectedChangeVersion: table.changeVersion - 1n });
    await expect(stale).rejects.toMatchObject({ kind: "conflict", reason: "TABLE_CHANGED" });
    await expect(
      commit(table, [], { expectedChangeVersion: table.changeVersion }),
    ).resolves.toBeDefined();
  });

  test("lets one of many writers that expect the same version win, and loses no append of others", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const files = await Promise.all(Array.from({ length: 6 }, () => putFile(lab.store, table)));
    const expecting = await Promise.allSettled(
      files.map((file) => commit(table, [file], { expectedChangeVersion: table.changeVersion })),
    );
    expect(expecting.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const more = await Promise.all(Array.from({ length: 6 }, () => putFile(lab.store, table)));
    await Promise.all(more.map((file) => commit(table, [file])));
    expect(await tableNow(lab, table.tableId)).toMatchObject({
      fileCount: 7,
      rowCount: 70n,
      changeVersion: 8n,
    });
  });

  test("repeats its answer for the same idempotency key and adds the files once", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const request = {
      ...tableById(table.tableId),
      operation: APPEND,
      files: [await putFile(lab.store, table)],
    };
    const options = { idempotencyKey: aName() };
    const first = await lab.asPerson("ana").commitTable(request, options);
    expect(await lab.asPerson("ana").commitTable(request, options)).toEqual(first);
    await expect(lab.asPerson("ana").commitTable(request)).rejects.toMatchObject({
      reason: "FILE_ALREADY_COMMITTED",
    });
    expect((await tableNow(lab, table.tableId)).fileCount).toBe(1);
  });

  test("changes the columns only when they are given", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const columns = [{ name: "x", type: "DATE", required: false }];
    const request = { ...tableById(table.tableId), operation: APPEND, files: [] };
    expect((await lab.asPerson("ana").commitTable(request)).table?.columns).toMatchObject(
      table.columns,
    );
    expect(
      (await lab.asPerson("ana").commitTable({ ...request, columns })).table?.columns,
    ).toMatchObject(columns);
    await expect(
      lab.asPerson("ana").commitTable({ ...request, operation: MAINTAIN, columns }),
    ).rejects.toMatchObject({ violations: [{ field: "/columns" }] });
  });

  test("T22 is for managed tables", async () => {
    const view = await liveTable(lab, newPlace(environment), TableKind.VIEW);
    await expect(commit(view, [])).rejects.toMatchObject({
      kind: "precondition",
      reason: "NOT_MANAGED",
    });
    expect(await pathsOf(view)).toEqual([]);
  });

  test("is refused on a dropped table", async () => {
    const place = newPlace(environment);
    const table = await filledTable(lab, place);
    await lab.asPerson("ana").dropTable(tableById(table.tableId));
    await expect(commit(table, [])).rejects.toMatchObject({ reason: "TABLE_DROPPED" });
    const byName = { ...tableByName(place), operation: APPEND };
    await expect(lab.asPerson("ana").commitTable(byName)).rejects.toMatchObject({
      reason: "TABLE_NOT_FOUND",
    });
    await expect(
      lab.asPerson("ana").listTableFiles(tableById(table.tableId)),
    ).rejects.toMatchObject({ reason: "TABLE_DROPPED" });
  });

  test("needs the right to write; the owner has it without a role", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const request = { ...tableById(table.tableId), operation: APPEND };
    await expect(lab.asPerson("rita", "reader").commitTable(request)).rejects.toMatchObject({
      kind: "denied",
    });
    const owner = lab.as({ subject: "ana", tenant: "local", roles: [], kind: "person" });
    await expect(owner.commitTable(request)).resolves.toBeDefined();
  });

  test("changes nothing while the object store is away, and works again after", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const file = await putFile(lab.store, table);
    for (const failing of ["head", "get"]) {
      lab.store.interfere((verb) => {
        if (verb === failing) throw new ObjectStoreError("unavailable", "the disk does not answer");
      });
      await expect(commit(table, [file])).rejects.toMatchObject({
        kind: "unavailable",
        reason: "OBJECT_STORE_UNAVAILABLE",
      });
    }
    lab.store.interfere();
    expect((await tableNow(lab, table.tableId)).changeVersion).toBe(1n);
    await expect(commit(table, [file])).resolves.toBeDefined();
  });

  test("refuses an unknown operation and a malformed hold", async () => {
    const { tableId } = await liveTable(lab, newPlace(environment));
    await expect(
      lab.asPerson("ana").commitTable({ ...tableById(tableId), holdId: "x" }),
    ).rejects.toMatchObject({ violations: [{ field: "/operation" }, { field: "/hold_id" }] });
  });

  test("T21 does not release another writer's hold", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const { hold } = await lab.asPerson("will", "writer").createHold(tableById(table.tableId));
    const { holdId } = present(hold);
    await commit(table, [], { holdId });
    await expect(lab.asPerson("will", "writer").renewHold({ holdId })).resolves.toBeDefined();
  });

  test("T21 releases the writer's hold in the same transaction, and minds no hold that has ended", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const { hold } = await lab.asPerson("ana").createHold(tableById(table.tableId));
    const holdId = present(hold).holdId;
    await expect(commit(table, [], { holdId, expectedChangeVersion: 99n })).rejects.toMatchObject({
      kind: "conflict",
    });
    await expect(lab.asPerson("ana").renewHold({ holdId })).resolves.toBeDefined();
    await commit(table, [], { holdId });
    await expect(lab.asPerson("ana").renewHold({ holdId })).rejects.toMatchObject({
      reason: "HOLD_ENDED",
    });
    await expect(commit(table, [], { holdId })).resolves.toBeDefined();
  });
});
