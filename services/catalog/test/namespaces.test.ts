import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Table } from "@lapse/proto/catalog";
import { beginDuePurges } from "../src/app/begin-purges.ts";
import { createTable } from "../src/app/create-table.ts";
import { deleteNamespace } from "../src/app/delete-namespace.ts";
import { purgeNextTable } from "../src/app/purge-table.ts";
import { updateTable } from "../src/app/update-table.ts";
import { gate, gatedCall, untilBlocked } from "./lab/gate.ts";
import { aName, DAY_MS, type Lab, openLab } from "./lab/lab.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  stagedTable,
  tableById,
} from "./lab/tables.ts";

const UNDO_DAYS = 2;
const { signal } = new AbortController();

let lab: Lab;
beforeAll(async () => {
  lab = await openLab("catalog-namespaces", UNDO_DAYS);
});
afterAll(() => lab.close());

const inEnvironment = (name: string) =>
  ({ environment: { ref: { case: "name", value: name } } }) as const;
const create = (environment: string, path: string, as = lab.asPerson("dora")) =>
  as.createNamespace({ ...inEnvironment(environment), path });
const remove = (environment: string, path: string, as = lab.asPerson("dora")) =>
  as.deleteNamespace({ ...inEnvironment(environment), path });
const paths = async (environment: string): Promise<string[]> => {
  const seen: string[] = [];
  let cursor = "";
  do {
    const page = await lab
      .asPerson("rita", "reader")
      .listNamespaces({ ...inEnvironment(environment), limit: 2, cursor });
    seen.push(...page.namespaces.map(({ path }) => path));
    cursor = page.nextCursor;
  } while (cursor);
  return seen;
};
const drop = ({ tableId }: Pick<Table, "tableId">) =>
  lab.asPerson("ana").dropTable(tableById(tableId));
const decisionsOn = ({ environmentId }: Table, path: string) =>
  lab.decisions(`${environmentId}/${path}`);

describe("CreateNamespace", () => {
  test("makes one, with its decision; a dotted path does not make those above it", async () => {
    const environment = await newEnvironment(lab);
    const { namespace } = await create(environment, "bronze.raw");
    expect(namespace).toMatchObject({ environment, path: "bronze.raw", createdBy: "dora" });
    expect(await paths(environment)).toEqual(["bronze.raw"]);
    const table = await liveTable(lab, newPlace(environment, "bronze.raw"));
    expect(await decisionsOn(table, "bronze.raw")).toMatchObject([
      { type: "NAMESPACE_CREATED", actor: "dora", resource: { kind: "namespace", environment } },
    ]);
  });

  test("refuses one that is there, by itself or by a table, and a path that is none", async () => {
    const environment = await newEnvironment(lab);
    await create(environment, "bronze");
    await liveTable(lab, newPlace(environment, "silver"));
    for (const path of ["bronze", "silver"]) {
      await expect(create(environment, path)).rejects.toMatchObject({ reason: "NAME_TAKEN" });
    }
    for (const path of ["", "a..b", "a/b", ".a", "x".repeat(64)]) {
      await expect(create(environment, path)).rejects.toMatchObject({
        violations: [{ field: "/path" }],
      });
    }
  });

  test("needs the right to create tables, and records a refusal", async () => {
    const environment = await newEnvironment(lab);
    await expect(
      create(environment, "bronze", lab.asPerson("will", "writer")),
    ).rejects.toMatchObject({ kind: "denied", details: { right: "table.create" } });
    expect(await paths(environment)).toEqual([]);
  });
});

describe("a table's name", () => {
  test("T31 brings its namespace with it: by creation, staged or live, rename and undrop", async () => {
    const environment = await newEnvironment(lab);
    const live = await filledTable(lab, newPlace(environment, "a"));
    await stagedTable(lab, newPlace(environment, "b"));
    await lab.asPerson("ana").updateTable({ ...tableById(live.tableId), namespace: "c.d" });
    expect(await paths(environment)).toEqual(["a", "b", "c.d"]);
    await drop(live);
    await lab.deps.pool.query("delete from namespace where path = 'c.d'");
    await lab.asPerson("ana").undropTable(tableById(live.tableId));
    expect(await paths(environment)).toEqual(["a", "b", "c.d"]);
  });
});

describe("DeleteNamespace", () => {
  test("T31 takes an empty one away with the empty ones below it, and no other that begins alike", async () => {
    const environment = await newEnvironment(lab);
    for (const path of ["a", "a.b", "a.b.c", "a-b", "a0", "ab", "b"])
      await create(environment, path);
    await remove(environment, "a");
    expect(await paths(environment)).toEqual(["a-b", "a0", "ab", "b"]);
    const table = await liveTable(lab, newPlace(environment));
    expect((await decisionsOn(table, "a")).at(-1)).toMatchObject({
      type: "NAMESPACE_DELETED",
      details: { namespaces_below: 2 },
    });
  });

  test("T31 is refused while it or one below it holds tables, also such as a list does not show, naming them", async () => {
    const environment = await newEnvironment(lab);
    await create(environment, "a");
    const dropped = await filledTable(lab, newPlace(environment, "a.b"));
    await liveTable(lab, newPlace(environment, "a-b"));
    await drop(dropped);
    for (const path of ["a", "a.b"]) {
      await expect(remove(environment, path)).rejects.toMatchObject({
        kind: "precondition",
        reason: "NOT_EMPTY",
        message: expect.stringMatching(
          new RegExp(
            `namespace ${path} still has 1 table: a\\.b\\.${dropped.name} \\(dropped, can be undone until 20`,
          ),
        ),
      });
    }
    await lab.timePasses(UNDO_DAYS * DAY_MS);
    await expect(remove(environment, "a")).rejects.toMatchObject({
      message: expect.stringContaining("about to be purged"),
    });
    await beginDuePurges(lab.deps, signal);
    await expect(remove(environment, "a")).rejects.toMatchObject({
      message: expect.stringContaining("its files are being deleted"),
    });
    while (await purgeNextTable(lab.deps, { signal }));
    await remove(environment, "a");
    expect(await paths(environment)).toEqual(["a-b"]);
  });

  test("is not found where it is not, even if there are some below it", async () => {
    const environment = await newEnvironment(lab);
    await create(environment, "a.b");
    for (const path of ["a", "x"]) {
      await expect(remove(environment, path)).rejects.toMatchObject({
        kind: "not_found",
        reason: "NAMESPACE_NOT_FOUND",
      });
    }
    expect(await paths(environment)).toEqual(["a.b"]);
  });

  test("needs the right to drop tables, and records a refusal", async () => {
    const environment = await newEnvironment(lab);
    await create(environment, "a");
    await expect(remove(environment, "a", lab.asPerson("will", "writer"))).rejects.toMatchObject({
      kind: "denied",
      details: { right: "table.drop" },
    });
    expect(await paths(environment)).toEqual(["a"]);
  });

  test("repeats its answer for the same idempotency key", async () => {
    const environment = await newEnvironment(lab);
    await create(environment, "a");
    const request = { ...inEnvironment(environment), path: "a" };
    const options = { idempotencyKey: aName() };
    await lab.asPerson("dora").deleteNamespace(request, options);
    await expect(lab.asPerson("dora").deleteNamespace(request, options)).resolves.toBeDefined();
  });

  const arrivals: [
    string,
    (table: Table, gates: Parameters<typeof gatedCall>[0]) => Promise<unknown>,
  ][] = [
    [
      "a creation",
      ({ environment }, gates) =>
        createTable(lab.deps, gatedCall(gates), {
          ...newPlace(environment, "a"),
          kind: "managed",
          columns: [],
          description: "",
          staged: false,
        }),
    ],
    [
      "a rename",
      ({ tableId }, gates) =>
        updateTable(lab.deps, gatedCall(gates), {
          table: { kind: "id", tableId },
          namespace: "a",
        }),
    ],
  ];

  test.each(arrivals)(
    "T31 waits for %s into it that is under way, and is refused",
    async (_, arrive) => {
      const environment = await newEnvironment(lab);
      await create(environment, "a");
      const table = await liveTable(lab, newPlace(environment));
      const [begun, after] = [gate(), gate()];
      const arriving = arrive(table, { begun, after });
      await begun.passed;
      const refused = expect(remove(environment, "a")).rejects.toMatchObject({
        reason: "NOT_EMPTY",
      });
      await untilBlocked(lab);
      after.open();
      await Promise.all([arriving, refused]);
      expect(await paths(environment)).toContain("a");
    },
  );

  test.each(arrivals)("T31 while %s comes: that makes it anew", async (_, arrive) => {
    const environment = await newEnvironment(lab);
    await create(environment, "a");
    const table = await liveTable(lab, newPlace(environment));
    const [begun, after] = [gate(), gate()];
    const deleting = deleteNamespace(lab.deps, gatedCall<void>({ begun, after }), {
      environment: { kind: "name", name: environment },
      path: "a",
    });
    await begun.passed;
    const arriving = arrive(table, {});
    await untilBlocked(lab);
    after.open();
    await Promise.all([deleting, arriving]);
    expect(await paths(environment)).toContain("a");
  });
});
