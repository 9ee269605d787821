import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@lapse/kit";
import { CommitOperation, type Table } from "@lapse/proto/catalog";
import { TableState } from "@lapse/proto/events";
import { answerDue } from "../src/app/answer-due.ts";
import { createTable } from "../src/app/create-table.ts";
import { deployProject } from "../src/app/deploy-project.ts";
import { insertTable } from "../src/store/tables.ts";
import { aTable } from "./builders.ts";
import { dueNow } from "./lab/due.ts";
import { gate, gatedCall, untilBlocked } from "./lab/gate.ts";
import { aName, type Lab, openLab } from "./lab/lab.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  present,
  stagedTable,
  tableById,
  tableNow,
} from "./lab/tables.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab("catalog-projects");
});
afterAll(() => lab.close());

const inEnvironment = (name: string) =>
  ({ environment: { ref: { case: "name", value: name } } }) as const;
const nameOf = ({ namespace, name }: Pick<Table, "namespace" | "name">) => `${namespace}.${name}`;
const deploy = async (
  environment: string,
  assets: readonly (string | Table)[],
  // A version is the tenant's: each environment here has a project of its own, named as it is.
  { project = environment, version = aName(), as = lab.asPerson("dora") } = {},
) =>
  present(
    (
      await as.deployProject({
        ...inEnvironment(environment),
        project,
        version,
        assets: assets.map((asset) => (typeof asset === "string" ? asset : nameOf(asset))),
      })
    ).project,
  );
const undeploy = (environment: string, project = environment) =>
  lab.asPerson("dora").undeployProject({ ...inEnvironment(environment), project });
const now = ({ tableId }: Pick<Table, "tableId">) => tableNow(lab, tableId);
const isAsset = async (table: Pick<Table, "tableId">) => (await now(table)).projectAsset;
const lastChange = async ({ tableId }: Table) => (await lab.events(tableId)).at(-1)?.message;

describe("DeployProject", () => {
  test("T20 makes the live tables it builds assets: a change that is no activity, with event and decision", async () => {
    const environment = await newEnvironment(lab);
    const [built, other] = [
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
    ];
    const project = await deploy(environment, [built, "gold.not_there_yet"], { version: "1.4.0" });
    expect(project).toMatchObject({
      name: environment,
      environment,
      version: "1.4.0",
      assets: [nameOf(built), "gold.not_there_yet"],
      deployedBy: "dora",
    });
    expect(await now(built)).toEqual({
      ...built,
      projectAsset: true,
      assetOf: `${environment} 1.4.0`,
      changeVersion: built.changeVersion + 1n,
    });
    expect(await now(other)).toEqual(other);
    expect(await lastChange(built)).toMatchObject({
      change: "TABLE_CHANGE_ASSET",
      table: { projectAsset: true },
      actor: "dora",
    });
    expect(await lab.decisions(`${built.environmentId}/${environment}`)).toMatchObject([
      {
        type: "PROJECT_DEPLOYED",
        actor: "dora",
        resource: { kind: "project", name: environment, environment },
        details: { version: "1.4.0", previous_version: null, assets: 2, tables_changed: 1 },
      },
    ]);
  });

  test("T20 keeps a due table, and lets it go once the project is undeployed", async () => {
    const environment = await newEnvironment(lab);
    const table = await filledTable(lab, newPlace(environment));
    await deploy(environment, [table]);
    await answerDue(lab.deps, [await dueNow(lab, await now(table))]);
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
      type: "TABLE_KEPT",
      reason: "project_asset",
    });
    await undeploy(environment);
    expect(await now(table)).toMatchObject({ projectAsset: false, assetOf: "" });
    expect((await lab.decisions(`${table.environmentId}/${environment}`)).at(-1)).toMatchObject({
      type: "PROJECT_UNDEPLOYED",
      details: { tables_changed: 1 },
    });
    await answerDue(lab.deps, [await dueNow(lab, await now(table))]);
    expect((await now(table)).state).toBe(TableState.DROPPED);
  });

  test("T20 a due event issued before the deployment, or before the undeployment, drops nothing", async () => {
    const environment = await newEnvironment(lab);
    const table = await filledTable(lab, newPlace(environment));
    const due = await dueNow(lab, table);
    await deploy(environment, [table]);
    await answerDue(lab.deps, [due]);
    const later = await dueNow(lab, await now(table));
    await undeploy(environment);
    await answerDue(lab.deps, [later]);
    expect((await now(table)).state).toBe(TableState.LIVE);
    expect((await lab.decisions(table.tableId)).map(({ reason }) => reason)).toEqual([
      "request",
      "project_asset",
      "changed",
    ]);
  });

  test("T20 another version lets go what only its former one built, and touches nothing else", async () => {
    const environment = await newEnvironment(lab);
    const [both, former, latter] = [
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
    ];
    await deploy(environment, [both, former], { version: "1" });
    const before = await now(both);
    await deploy(environment, [both, latter], { version: "2" });
    expect([await isAsset(both), await isAsset(former), await isAsset(latter)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(await now(both)).toEqual({ ...before, assetOf: `${environment} 2` });
    // Back again, by the name of the version alone.
    expect((await deploy(environment, [], { version: "1" })).assets).toHaveLength(2);
    expect([await isAsset(former), await isAsset(latter)]).toEqual([true, false]);
  });

  test("T20 a table that two projects build stays an asset until neither does", async () => {
    const environment = await newEnvironment(lab);
    const table = await filledTable(lab, newPlace(environment));
    await deploy(environment, [table], { project: "a" });
    await deploy(environment, [table], { project: "b" });
    await undeploy(environment, "a");
    expect((await now(table)).assetOf).toMatch(/^b /);
    await undeploy(environment, "b");
    expect(await isAsset(table)).toBe(false);
  });

  test("a version never changes: other assets are refused, the same in another order are not", async () => {
    const [environment, elsewhere] = [await newEnvironment(lab), await newEnvironment(lab)];
    const project = aName();
    await deploy(environment, ["gold.a", "gold.b"], { project, version: "1" });
    await expect(deploy(elsewhere, ["gold.a"], { project, version: "1" })).rejects.toMatchObject({
      kind: "conflict",
      reason: "VERSION_TAKEN",
    });
    const again = { project, version: "1" };
    expect((await deploy(elsewhere, ["gold.b", "gold.a", "gold.a"], again)).assets).toEqual([
      "gold.a",
      "gold.b",
    ]);
    await expect(deploy(environment, [], { project, version: "2" })).rejects.toMatchObject({
      kind: "not_found",
      reason: "VERSION_NOT_FOUND",
    });
  });

  test("the version that is current already decides nothing", async () => {
    const environment = await newEnvironment(lab);
    const table = await filledTable(lab, newPlace(environment));
    const first = await deploy(environment, [table], { version: "1" });
    expect(await deploy(environment, [table], { version: "1", as: lab.asPerson("ana") })).toEqual(
      first,
    );
    expect(await lab.decisions(`${table.environmentId}/${environment}`)).toHaveLength(1);
  });

  test("is of one environment and one tenant: namesakes elsewhere are no assets", async () => {
    const [here, there] = [await newEnvironment(lab), await newEnvironment(lab)];
    const table = await liveTable(lab, newPlace(here));
    const namesake = await liveTable(lab, { ...newPlace(there), name: table.name });
    await deploy(here, [table]);
    expect([await isAsset(table), await isAsset(namesake)]).toEqual([true, false]);
  });

  test("needs the right to drop every table there by a role, and records a refusal", async () => {
    const environment = await newEnvironment(lab);
    const table = await liveTable(lab, newPlace(environment));
    for (const role of ["reader", "writer"] as const) {
      await expect(
        deploy(environment, [table], { as: lab.asPerson("rita", role) }),
      ).rejects.toMatchObject({ kind: "denied", details: { right: "table.drop" } });
    }
    const ana = lab.as({ subject: "ana", tenant: "local", roles: [], kind: "person" });
    await expect(deploy(environment, [table], { as: ana })).rejects.toMatchObject({
      kind: "denied",
    });
    expect(await isAsset(table)).toBe(false);
    expect((await lab.decisions(table.environmentId)).at(-1)).toMatchObject({
      type: "AUTHORIZATION_DENIED",
      actor: "ana",
    });
    await deploy(environment, [table], { as: lab.asPerson("adam", "admin") });
    const outsider = lab.as({
      subject: "eve",
      tenant: "other",
      roles: ["superadmin"],
      kind: "person",
    });
    await expect(deploy(environment, [], { as: outsider })).rejects.toMatchObject({
      reason: "ENVIRONMENT_NOT_FOUND",
    });
  });

  test("names every fault of a request at once, and bounds the assets", async () => {
    const environment = await newEnvironment(lab);
    await expect(
      deploy(environment, ["orders", "gold.x", 'gold."; drop'], { project: "a b", version: "" }),
    ).rejects.toMatchObject({
      violations: [
        { field: "/version" },
        { field: "/project" },
        { field: "/assets/0" },
        { field: "/assets/2" },
      ],
    });
    const many = Array.from({ length: 10_001 }, (_, index) => `gold.t${index}`);
    await expect(deploy(environment, many)).rejects.toMatchObject({
      violations: [{ field: "/assets", description: expect.stringContaining("10000") }],
    });
  });

  test("repeats its answer for the same idempotency key", async () => {
    const environment = await newEnvironment(lab);
    const request = {
      ...inEnvironment(environment),
      project: environment,
      version: "1",
      assets: ["a.b"],
    };
    const options = { idempotencyKey: aName() };
    const first = await lab.asPerson("dora").deployProject(request, options);
    await undeploy(environment);
    expect(await lab.asPerson("dora").deployProject(request, options)).toEqual(first);
    expect((await lab.asPerson("dora").listProjects(inEnvironment(environment))).projects).toEqual(
      [],
    );
  });
});

describe("a table gets the name of an asset", () => {
  const asset = async () => {
    const environment = await newEnvironment(lab);
    const place = newPlace(environment, "gold");
    await deploy(environment, [`gold.${place.name}`], { version: "1" });
    return { environment, place };
  };

  test("T20 by its creation", async () => {
    const { environment, place } = await asset();
    expect(await liveTable(lab, place)).toMatchObject({
      projectAsset: true,
      assetOf: `${environment} 1`,
    });
  });

  test("T20 by the first commit of a staged one, not before", async () => {
    const { environment, place } = await asset();
    const staged = await stagedTable(lab, place);
    expect(staged.projectAsset).toBe(false);
    const { table } = await lab
      .asPerson("ana")
      .commitTable({ ...tableById(staged.tableId), operation: CommitOperation.APPEND });
    expect(table).toMatchObject({ projectAsset: true, assetOf: `${environment} 1` });
    expect((await lab.events(staged.tableId)).at(-1)).toMatchObject({
      subject: "catalog.table.created",
      message: { table: { projectAsset: true } },
    });
  });

  test("T20 by a rename, and stops being one by the next", async () => {
    const { environment, place } = await asset();
    const table = await liveTable(lab, newPlace(environment));
    const rename = async (namespace: string, name: string) =>
      (await lab.asPerson("ana").updateTable({ ...tableById(table.tableId), namespace, name }))
        .table;
    expect(await rename("gold", place.name)).toMatchObject({ projectAsset: true });
    expect(await rename("gold", `${place.name}_x`)).toMatchObject({
      projectAsset: false,
      assetOf: "",
    });
  });

  test("T20 by an undrop, whatever it was when it was dropped", async () => {
    const { environment, place } = await asset();
    const table = await filledTable(lab, place);
    await lab.asPerson("ana").dropTable(tableById(table.tableId));
    expect(await isAsset(table)).toBe(false);
    await undeploy(environment);
    const undrop = async (asName = "") =>
      (await lab.asPerson("ana").undropTable({ ...tableById(table.tableId), asName })).table;
    expect(await undrop()).toMatchObject({ projectAsset: false });
    await lab.asPerson("ana").dropTable(tableById(table.tableId));
    await deploy(environment, [], { version: "1" });
    expect(await undrop()).toMatchObject({ projectAsset: true });
    await lab.asPerson("ana").dropTable(tableById(table.tableId));
    expect(await undrop(`${place.name}_x`)).toMatchObject({ projectAsset: false });
  });
});

describe("a deployment that meets", () => {
  const deployment = (
    environmentId: string,
    asset: string,
    gates: Parameters<typeof gatedCall>[0],
  ) =>
    deployProject(lab.deps, gatedCall(gates), {
      environment: { kind: "id", environmentId },
      project: "shop",
      version: aName(),
      assets: [asset],
    });

  test("T20 the creation of a table it builds: one sees the other, in either order", async () => {
    for (const first of ["deployment", "creation"] as const) {
      const environment = await newEnvironment(lab);
      const { environmentId } = await liveTable(lab, newPlace(environment));
      const place = newPlace(environment, "gold");
      const [begun, after] = [gate(), gate()];
      const gates = { begun, after };
      const deploying = () =>
        deployment(environmentId, `gold.${place.name}`, first === "deployment" ? gates : {});
      const creating = () =>
        createTable(lab.deps, gatedCall(first === "creation" ? gates : {}), {
          ...place,
          kind: "managed",
          columns: [],
          description: "",
          staged: false,
        });
      const under = first === "deployment" ? deploying() : creating();
      await begun.passed;
      const meeting = first === "deployment" ? creating() : deploying();
      await untilBlocked(lab);
      after.open();
      await Promise.all([under, meeting]);
      const { tables } = await lab
        .asPerson("ana")
        .listTables({ ...inEnvironment(environment), namespace: "gold" });
      expect(tables).toMatchObject([{ projectAsset: true }]);
    }
  });

  test("T20 the creation of a table that takes no lock on names: that would miss it", async () => {
    const environment = await newEnvironment(lab);
    const { environmentId } = await liveTable(lab, newPlace(environment));
    const [begun, after] = [gate(), gate()];
    const { namespace, name } = newPlace(environment, "gold");
    const deploying = deployment(environmentId, `gold.${name}`, { begun, after });
    await begun.passed;
    const table = aTable({ tableId: newId(), environmentId, namespace, name });
    await insertTable(lab.deps.pool, table);
    after.open();
    await deploying;
    expect(await isAsset(table)).toBe(false);
  });

  test("T20 a due event: that waits for it, and keeps the table", async () => {
    const environment = await newEnvironment(lab);
    const table = await filledTable(lab, newPlace(environment));
    const due = await dueNow(lab, table);
    const [begun, after] = [gate(), gate()];
    const deploying = deployment(table.environmentId, nameOf(table), { begun, after });
    await begun.passed;
    const answered = answerDue(lab.deps, [due]);
    await untilBlocked(lab);
    after.open();
    await Promise.all([deploying, answered]);
    expect((await now(table)).state).toBe(TableState.LIVE);
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({ reason: "project_asset" });
  });
});

describe("ListProjects", () => {
  test("T20 pages through the projects of an environment by name, with their assets", async () => {
    const environment = await newEnvironment(lab);
    for (const project of ["c", "a", "b"]) await deploy(environment, ["gold.x"], { project });
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await lab
        .asPerson("rita", "reader")
        .listProjects({ ...inEnvironment(environment), limit: 2, cursor });
      seen.push(...page.projects.map(({ name, assets }) => `${name}:${assets.join()}`));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).toEqual(["a:gold.x", "b:gold.x", "c:gold.x"]);
    await expect(undeploy(environment, "d")).rejects.toMatchObject({ reason: "PROJECT_NOT_FOUND" });
  });

  test("a page ends before its answer becomes too large", async () => {
    const environment = await newEnvironment(lab);
    const assets = Array.from(
      { length: 10_000 },
      (_, index) => `${"x".repeat(60)}.${"y".repeat(55)}${index}`,
    );
    for (const project of ["a", "b"]) await deploy(environment, assets, { project });
    const page = await lab.asPerson("rita", "reader").listProjects(inEnvironment(environment));
    expect(page.projects.map(({ name }) => name)).toEqual(["a"]);
    expect(page.nextCursor).not.toBe("");
  });
});
