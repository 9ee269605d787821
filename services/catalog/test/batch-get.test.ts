import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@lapse/kit";
import { batchGetTables } from "../src/app/batch-get-tables.ts";
import { aName, type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  stagedTable,
  type TablePlace,
  tableById,
  tableByName,
} from "./lab/tables.ts";

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-batch-get");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const byId = (tableId: string) => tableById(tableId).table;
const byName = (place: TablePlace) => tableByName(place).table;
const refusals = async () => {
  const { rows } = await lab.deps.pool.query(
    "select from lapse_kit.outbox where subject like 'decision.%.AUTHORIZATION_DENIED'",
  );
  return rows.length;
};

describe("BatchGetTables", () => {
  test("finds many tables by id and name, each at the place it was asked for at, also twice", async () => {
    const [a, b] = [
      await liveTable(lab, newPlace(environment)),
      await liveTable(lab, newPlace(environment)),
    ];
    const { tables } = await lab.asPerson("rita", "reader").batchGetTables({
      tables: [byId(a.tableId), byName(b), byId(newId()), byName(a), byId(b.tableId)],
    });
    expect(tables.map(({ index, table }) => [index, table?.tableId])).toEqual([
      [0, a.tableId],
      [1, b.tableId],
      [3, a.tableId],
      [4, b.tableId],
    ]);
    expect(tables[0]?.table).toMatchObject({ name: a.name, columns: [], rights: ["table.read"] });
  });

  test("leaves out what is not there, another tenant's or not to be read, and records nothing", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const dropped = await filledTable(lab, newPlace(environment));
    await lab.asPerson("ana").dropTable(tableById(dropped.tableId));
    const staged = await stagedTable(lab, newPlace(environment));
    const refs = [byId(table.tableId), byName(table), byName(dropped), byName(staged)];
    const before = await refusals();
    const asked = async (as: ReturnType<typeof lab.as>) =>
      (await as.batchGetTables({ tables: refs })).tables.map(({ index }) => index);
    expect(await asked(lab.asPerson("rita", "reader"))).toEqual([0, 1]);
    const eve = { subject: "eve", tenant: "other", roles: ["superadmin"], kind: "person" } as const;
    expect(await asked(lab.as(eve))).toEqual([]);
    expect(await asked(lab.as({ ...eve, tenant: "local", roles: [] }))).toEqual([]);
    // Its owner reads it without any role.
    expect(await asked(lab.as({ ...eve, subject: "ana", tenant: "local", roles: [] }))).toEqual([
      0, 1,
    ]);
    expect(await refusals()).toBe(before);
  });

  test("finds by id what is dropped or staged, with its state, as GetTable does", async () => {
    const dropped = await filledTable(lab, newPlace(environment));
    await lab.asPerson("ana").dropTable(tableById(dropped.tableId));
    const { tables } = await lab
      .asPerson("dora")
      .batchGetTables({ tables: [byId(dropped.tableId)] });
    const { table } = await lab.asPerson("dora").getTable(tableById(dropped.tableId));
    expect(tables[0]?.table).toEqual({ ...table, columns: [] });
  });

  test("is bounded, and names every fault with its place", async () => {
    const many = Array.from({ length: 1_001 }, () => byId(newId()));
    await expect(lab.asPerson("ana").batchGetTables({ tables: many })).rejects.toMatchObject({
      violations: [{ field: "/tables" }],
    });
    const bad = [
      byId(newId()),
      byId("x"),
      byName({ environment: "dev", namespace: "", name: "a" }),
    ];
    await expect(lab.asPerson("ana").batchGetTables({ tables: bad })).rejects.toMatchObject({
      violations: [{ field: "/tables/1/table_id" }, { field: "/tables/2/name/namespace" }],
    });
    await expect(
      lab.as(SERVICE_PRINCIPAL).batchGetTables({
        tables: [byName({ environment: "dev", namespace: "a", name: aName() })],
      }),
    ).rejects.toMatchObject({ reason: "TENANT_REQUIRED" });
  });

  test("asks the database three times at most, whatever the number", async () => {
    const tables = await Promise.all(
      Array.from({ length: 20 }, () => liveTable(lab, newPlace(environment))),
    );
    let asked = 0;
    const pool: typeof lab.deps.pool = Object.create(lab.deps.pool, {
      query: {
        value: (...args: Parameters<typeof lab.deps.pool.query>) => {
          asked += 1;
          return lab.deps.pool.query(...args);
        },
      },
    });
    const refs = tables.flatMap((table) => [
      { kind: "id", tableId: table.tableId } as const,
      {
        kind: "name",
        environment: table.environment,
        namespace: table.namespace,
        name: table.name,
      } as const,
    ]);
    const principal = {
      subject: "rita",
      tenant: "local",
      roles: ["reader"],
      kind: "person",
    } as const;
    const found = await batchGetTables({ ...lab.deps, pool }, { principal }, refs);
    expect(found).toHaveLength(40);
    expect(asked).toBeLessThanOrEqual(3);
  });
});
