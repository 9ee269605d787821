import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { TableKind, TableState } from "@lapse/proto/events";
import { aName, type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
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
  lab = await openLab("catalog-tables");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const outsider = () =>
  lab.as({ subject: "eve", tenant: "other", roles: ["superadmin"], kind: "person" });
const inEnvironment = (name: string) =>
  ({ environment: { ref: { case: "name", value: name } } }) as const;

describe("CreateTable", () => {
  test("makes a table that its creator owns, live and empty, with event and decision", async () => {
    const place = newPlace(environment);
    const table = await liveTable(lab, place);
    expect(table).toMatchObject({
      ...place,
      tenant: "local",
      owner: "ana",
      kind: TableKind.MANAGED,
      state: TableState.LIVE,
      changeVersion: 1n,
      retentionVersion: 0n,
      keyPrefix: `${environment}/${table.tableId}/`,
      bucket: `local--${environment}`,
      fileCount: 0,
      environmentProtected: false,
    });
    expect(table.location).toMatch(
      new RegExp(`^file:///.*/local--${environment}/${environment}/${table.tableId}$`),
    );
    expect(await lab.events(table.tableId)).toMatchObject([
      {
        subject: "catalog.table.created",
        message: { table: { name: place.name, state: "TABLE_STATE_LIVE" }, actor: "ana" },
      },
    ]);
    expect(await lab.decisions(table.tableId)).toMatchObject([
      {
        type: "TABLE_CREATED",
        actor: "ana",
        resource: { name: `bronze.${place.name}`, environment },
      },
    ]);
  });

  test("shows a staged table to nobody before its first commit", async () => {
    const place = newPlace(environment);
    const staged = await stagedTable(lab, place);
    expect(staged.state).toBe(TableState.STAGED);
    await expect(lab.asPerson("ana").getTable(tableByName(place))).rejects.toMatchObject({
      reason: "TABLE_NOT_FOUND",
    });
    const { tables } = await lab
      .asPerson("ana")
      .listTables({ ...inEnvironment(environment), limit: 1000 });
    expect(tables.map(({ tableId }) => tableId)).not.toContain(staged.tableId);
    expect(await lab.events(staged.tableId)).toEqual([]);
    expect(await lab.decisions(staged.tableId)).toEqual([]);
    // Its writer, who knows the id, works with it.
    expect((await tableNow(lab, staged.tableId)).tableId).toBe(staged.tableId);
  });

  test("refuses a name that is taken by a live table, staged or not; two staged ones may share it", async () => {
    const place = newPlace(environment);
    await stagedTable(lab, place);
    await stagedTable(lab, place);
    await liveTable(lab, place);
    await expect(liveTable(lab, place)).rejects.toMatchObject({
      kind: "already_exists",
      reason: "NAME_TAKEN",
    });
    await expect(stagedTable(lab, place)).rejects.toMatchObject({ reason: "NAME_TAKEN" });
    await expect(liveTable(lab, { ...place, namespace: "silver" })).resolves.toBeDefined();
  });

  test("gives exactly one of many creators the name", async () => {
    const place = newPlace(environment);
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, () => liveTable(lab, place)),
    );
    expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("T22 gives views, external tables and artifacts no location, and stages none of them", async () => {
    for (const kind of [TableKind.VIEW, TableKind.EXTERNAL, TableKind.ARTIFACT]) {
      expect(await liveTable(lab, newPlace(environment), kind)).toMatchObject({
        kind,
        location: "",
        bucket: "",
        keyPrefix: "",
      });
      await expect(
        lab.asPerson("ana").createTable({ name: newPlace(environment), kind, staged: true }),
      ).rejects.toMatchObject({ violations: [{ field: "/staged" }] });
    }
  });

  test("repeats its answer for the same idempotency key, to its caller alone", async () => {
    const request = { name: newPlace(environment) };
    const options = { idempotencyKey: aName() };
    const first = await lab.asPerson("ana").createTable(request, options);
    expect(await lab.asPerson("ana").createTable(request, options)).toEqual(first);
    await expect(
      lab.asPerson("rita", "reader").createTable(request, options),
    ).rejects.toMatchObject({ kind: "denied" });
  });

  test("needs the right to create, and records a refusal", async () => {
    const place = newPlace(environment);
    await expect(lab.asPerson("will", "writer").createTable({ name: place })).rejects.toMatchObject(
      { kind: "denied" },
    );
    expect(await lab.decisions("")).toContainEqual(
      expect.objectContaining({
        type: "AUTHORIZATION_DENIED",
        actor: "will",
        resource: { kind: "table", name: `bronze.${place.name}`, environment },
      }),
    );
  });

  test("names every fault of a request at once, and stores nothing", async () => {
    const refused = lab.asPerson("ana").createTable({
      name: { environment: "No", namespace: "a..b", name: "x/../y" },
      kind: 99 as TableKind,
      columns: [{ name: "", type: "BIGINT" }],
      description: "x".repeat(4_097),
    });
    await expect(refused).rejects.toMatchObject({ kind: "invalid", reason: "REQUEST_INVALID" });
    const { violations } = await refused.catch((error) => error);
    expect(violations.map(({ field }: { field: string }) => field)).toEqual([
      "/kind",
      "/name/environment",
      "/name/namespace",
      "/name/name",
      "/columns/0/name",
      "/description",
    ]);
  });

  test.each(["x'; drop table catalog_table; --", 'a"b', "a b", "../x", "a.b", "\u0000", "😀"])(
    "refuses the name %j",
    async (name) => {
      const place = { ...newPlace(environment), name };
      await expect(lab.asPerson("ana").createTable({ name: place })).rejects.toMatchObject({
        kind: "invalid",
      });
    },
  );

  test("takes both spellings of an accent for one name", async () => {
    const base = aName();
    await liveTable(lab, { environment, namespace: "bronze", name: `${base}caf\u00e9` });
    await expect(
      liveTable(lab, { environment, namespace: "bronze", name: `${base}cafe\u0301` }),
    ).rejects.toMatchObject({ reason: "NAME_TAKEN" });
  });

  test("is unknown in an environment of another tenant", async () => {
    await expect(outsider().createTable({ name: newPlace(environment) })).rejects.toMatchObject({
      reason: "ENVIRONMENT_NOT_FOUND",
    });
  });
});

describe("GetTable", () => {
  test("finds by name and id for a reader, a service, and its owner without any role", async () => {
    const place = newPlace(environment);
    const table = await liveTable(lab, place);
    const owner = lab.as({ subject: "ana", tenant: "local", roles: [], kind: "person" });
    for (const client of [lab.asPerson("rita", "reader"), lab.as(SERVICE_PRINCIPAL), owner]) {
      const { table: found } = await client.getTable(tableById(table.tableId));
      expect(found).toEqual({ ...table, rights: found?.rights });
    }
    const { table: found } = await lab.asPerson("rita", "reader").getTable(tableByName(place));
    expect(found).toEqual({ ...table, rights: ["table.read"] });
  });

  test("knows nothing of another tenant's table", async () => {
    const table = await liveTable(lab, newPlace(environment));
    await expect(outsider().getTable(tableById(table.tableId))).rejects.toMatchObject({
      reason: "TABLE_NOT_FOUND",
    });
  });

  test("answers the same to who may read nothing, whether the table is there or not", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const nobody = lab.as({ subject: "nil", tenant: "local", roles: [], kind: "person" });
    for (const id of [table.tableId, "01900000-0000-7000-8000-000000000000"]) {
      await expect(nobody.getTable(tableById(id))).rejects.toMatchObject({ kind: "denied" });
    }
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
      type: "AUTHORIZATION_DENIED",
      actor: "nil",
    });
  });
});

describe("ListTables", () => {
  test("pages through every live table once, also while others come and go", async () => {
    const name = await newEnvironment(lab);
    const places = Array.from({ length: 23 }, (_, index) => ({
      environment: name,
      namespace: index % 2 ? "bronze.raw" : "bronze",
      name: `t${String(index).padStart(2, "0")}`,
    }));
    const tables = [];
    for (const place of places) tables.push(await liveTable(lab, place));
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await lab
        .asPerson("rita", "reader")
        .listTables({ ...inEnvironment(name), limit: 5, cursor });
      seen.push(...page.tables.map((table) => table.name));
      cursor = page.nextCursor;
      // Between two pages one that was seen goes, and one sorts in before the cursor.
      const [gone] = page.tables;
      if (gone) await lab.asPerson("ana").dropTable(tableById(gone.tableId));
      await liveTable(lab, { environment: name, namespace: "a", name: aName() });
    } while (cursor);
    expect(seen.sort()).toEqual(places.map((place) => place.name));
  });

  test("narrows to a namespace and those below it, and no other that begins alike", async () => {
    const name = await newEnvironment(lab);
    for (const namespace of ["a", "a.b", "a.b.c", "a-b", "ab", "b"]) {
      await liveTable(lab, { environment: name, namespace, name: "t" });
    }
    const below = async (namespace: string) =>
      (await lab.asPerson("ana").listTables({ ...inEnvironment(name), namespace })).tables.map(
        (table) => table.namespace,
      );
    expect(await below("a")).toEqual(["a", "a.b", "a.b.c"]);
    expect(await below("a.b")).toEqual(["a.b", "a.b.c"]);
    expect(await below("none")).toEqual([]);
  });

  test("needs the right to read, and an environment that exists", async () => {
    const nobody = lab.as({ subject: "nil", tenant: "local", roles: [], kind: "person" });
    await expect(nobody.listTables(inEnvironment(environment))).rejects.toMatchObject({
      kind: "denied",
    });
    await expect(outsider().listTables(inEnvironment(environment))).rejects.toMatchObject({
      kind: "not_found",
    });
  });
});

describe("UpdateTable", () => {
  test("T13 a new description is activity; the same one again is nothing", async () => {
    const table = await liveTable(lab, newPlace(environment));
    await lab.timePasses(60_000);
    const update = () =>
      lab
        .asPerson("will", "writer")
        .updateTable({ ...tableById(table.tableId), description: "trial" });
    const first = present((await update()).table);
    expect(first).toMatchObject({ description: "trial", changeVersion: 2n, retentionVersion: 0n });
    const moved =
      timestampDate(present(first.lastChangedAt)).getTime() -
      timestampDate(present(first.createdAt)).getTime();
    expect(moved).toBeGreaterThanOrEqual(60_000);
    expect((await update()).table).toEqual(first);
    expect(await lab.events(table.tableId)).toMatchObject([
      {},
      { message: { change: "TABLE_CHANGE_DESCRIBED", actor: "will" } },
    ]);
  });

  test("needs the right to write, and something to change", async () => {
    const { tableId } = await liveTable(lab, newPlace(environment));
    const reader = lab.asPerson("rita", "reader");
    await expect(
      reader.updateTable({ ...tableById(tableId), description: "x" }),
    ).rejects.toMatchObject({ kind: "denied" });
    await expect(lab.asPerson("ana").updateTable(tableById(tableId))).rejects.toMatchObject({
      kind: "invalid",
    });
    expect((await tableNow(lab, tableId)).changeVersion).toBe(1n);
  });
});

describe("TouchTable", () => {
  test("T5 moves both versions and the last change, and decides nothing", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const touched = await lab.as(SERVICE_PRINCIPAL).touchTable(tableById(table.tableId));
    expect(touched.table).toMatchObject({ changeVersion: 2n, retentionVersion: 2n });
    expect((await lab.events(table.tableId)).at(-1)).toMatchObject({
      subject: "catalog.table.changed",
      message: { change: "TABLE_CHANGE_TOUCHED", table: { retentionVersion: "2" } },
    });
    expect((await lab.decisions(table.tableId)).map(({ type }) => type)).toEqual(["TABLE_CREATED"]);
  });

  test("works on a staged table, so that a retention is in place by its first commit", async () => {
    const staged = await stagedTable(lab, newPlace(environment));
    const touched = await lab.asPerson("ana").touchTable(tableById(staged.tableId));
    expect(touched.table).toMatchObject({ state: TableState.STAGED, retentionVersion: 2n });
    expect(await lab.events(staged.tableId)).toMatchObject([
      { message: { table: { state: "TABLE_STATE_STAGED" } } },
    ]);
  });

  test("T6 is for the owner and whoever may write or drop", async () => {
    const { tableId } = await liveTable(lab, newPlace(environment));
    await expect(
      lab.asPerson("rita", "reader").touchTable(tableById(tableId)),
    ).rejects.toMatchObject({ kind: "denied" });
    await expect(
      lab.asPerson("ana", "reader").touchTable(tableById(tableId)),
    ).resolves.toBeDefined();
    await expect(
      lab.asPerson("will", "writer").touchTable(tableById(tableId)),
    ).resolves.toBeDefined();
  });

  test("is refused once the table is dropped, saying what to do", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await lab.asPerson("ana").dropTable(tableById(table.tableId));
    await expect(lab.asPerson("ana").touchTable(tableById(table.tableId))).rejects.toMatchObject({
      kind: "precondition",
      reason: "TABLE_DROPPED",
      message: expect.stringContaining("undrop"),
    });
  });
});
