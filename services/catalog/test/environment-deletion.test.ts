import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@lapse/kit";
import type { Environment, Table } from "@lapse/proto/catalog";
import { beginDuePurges } from "../src/app/begin-purges.ts";
import { createTable } from "../src/app/create-table.ts";
import { deleteEnvironment } from "../src/app/delete-environment.ts";
import { purgeNextTable } from "../src/app/purge-table.ts";
import { insertEnvironment } from "../src/store/environments.ts";
import { insertTable } from "../src/store/tables.ts";
import { anEnvironment, aTable } from "./builders.ts";
import { gate, gatedCall, untilBlocked } from "./lab/gate.ts";
import { aName, DAY_MS, type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  present,
  stagedTable,
  tableById,
} from "./lab/tables.ts";

const UNDO_DAYS = 2;
const { signal } = new AbortController();

let lab: Lab;
beforeAll(async () => {
  lab = await openLab("catalog-environment-deletion", UNDO_DAYS);
});
afterAll(() => lab.close());

const admin = () => lab.asPerson("root", "admin");
const inEnvironment = (name: string) =>
  ({ environment: { ref: { case: "name", value: name } } }) as const;
const remove = (name: string, as = admin()) => as.deleteEnvironment(inEnvironment(name));
const get = async (name: string): Promise<Environment> =>
  present((await admin().getEnvironment(inEnvironment(name))).environment);
const drop = ({ tableId }: Pick<Table, "tableId">) =>
  lab.asPerson("ana").dropTable(tableById(tableId));
const purgeAll = async () => {
  await beginDuePurges(lab.deps, signal);
  while (await purgeNextTable(lab.deps, { signal }));
};

describe("DeleteEnvironment", () => {
  test("T31 takes an empty environment away, with event and decision, and keeps its row", async () => {
    const name = await newEnvironment(lab);
    const environment = await get(name);
    const { environmentId } = environment;
    await remove(name);
    await expect(get(name)).rejects.toMatchObject({ reason: "ENVIRONMENT_NOT_FOUND" });
    await expect(
      admin().getEnvironment({
        environment: { ref: { case: "environmentId", value: environmentId } },
      }),
    ).rejects.toMatchObject({ reason: "ENVIRONMENT_NOT_FOUND" });
    const { environments } = await admin().listEnvironments({ limit: 1000 });
    expect(environments.map((each) => each.name)).not.toContain(name);
    expect((await lab.events(environmentId)).at(-1)).toMatchObject({
      subject: "catalog.environment.deleted",
      message: { environment: { environmentId, name, changeVersion: "2" }, actor: "root" },
    });
    expect((await lab.decisions(environmentId)).at(-1)).toMatchObject({
      type: "ENVIRONMENT_DELETED",
      actor: "root",
      resource: { kind: "environment", id: environmentId, name },
    });
    const { rows } = await lab.deps.pool.query(
      "select name, deleted_by from environment where environment_id = $1",
      [environmentId],
    );
    expect(rows).toEqual([{ name, deleted_by: "root" }]);
  });

  test("T31 is refused while it has tables that are live, staged, restorable or being purged, naming them and when they are gone", async () => {
    const name = await newEnvironment(lab);
    const live = await filledTable(lab, newPlace(name, "a"));
    const dropped = await filledTable(lab, newPlace(name, "b"));
    const staged = await stagedTable(lab, newPlace(name, "c"));
    const { undoUntil } = present((await drop(dropped)).table);
    const until = new Date(
      Number(present(undoUntil).seconds) * 1_000 + present(undoUntil).nanos / 1e6,
    );
    await expect(remove(name)).rejects.toMatchObject({
      kind: "precondition",
      reason: "NOT_EMPTY",
      message: expect.stringContaining(
        `environment ${name} still has 3 tables: a.${live.name} (live), ` +
          `b.${dropped.name} (dropped, can be undone until ${until.toISOString()}), ` +
          `c.${staged.name} (staged, until its first commit or a day without one);`,
      ),
      details: { total: "3" },
    });
    expect((await get(name)).changeVersion).toBe(1n);
    await drop(live);
    await drop(staged);
    await lab.timePasses(UNDO_DAYS * DAY_MS);
    await beginDuePurges(lab.deps, signal);
    await expect(remove(name)).rejects.toMatchObject({
      message: expect.stringContaining("its files are being deleted"),
    });
    await purgeAll();
    await expect(remove(name)).resolves.toBeDefined();
  });

  test("T31 names ten of many, and says how many there are", async () => {
    const name = await newEnvironment(lab);
    for (let index = 0; index < 12; index++) await liveTable(lab, newPlace(name));
    const refused = await remove(name).catch((error: unknown) => error);
    expect(refused).toMatchObject({ details: { total: "12" } });
    expect(String(refused).match(/\(live\)/g)).toHaveLength(10);
  });

  test("T19 is refused while it is protected, even empty", async () => {
    const name = await newEnvironment(lab);
    const protect = (value: boolean) =>
      admin().updateEnvironment({ ...inEnvironment(name), protected: value });
    await protect(true);
    await expect(remove(name)).rejects.toMatchObject({
      kind: "precondition",
      reason: "ENVIRONMENT_PROTECTED",
    });
    await protect(false);
    await expect(remove(name)).resolves.toBeDefined();
  });

  test("needs the right to manage environments, and records a refusal", async () => {
    const name = await newEnvironment(lab);
    const { environmentId } = await get(name);
    await expect(remove(name, lab.asPerson("dora"))).rejects.toMatchObject({ kind: "denied" });
    expect((await lab.decisions(environmentId)).at(-1)).toMatchObject({
      type: "AUTHORIZATION_DENIED",
      actor: "dora",
      details: { right: "environment.manage" },
    });
    const outsider = lab.as({
      subject: "eve",
      tenant: "other",
      roles: ["superadmin"],
      kind: "person",
    });
    await expect(remove(name, outsider)).rejects.toMatchObject({
      reason: "ENVIRONMENT_NOT_FOUND",
    });
    await expect(get(name)).resolves.toBeDefined();
  });

  test("repeats its answer for the same idempotency key; without one it is gone", async () => {
    const name = await newEnvironment(lab);
    const options = { idempotencyKey: aName() };
    await admin().deleteEnvironment(inEnvironment(name), options);
    await expect(admin().deleteEnvironment(inEnvironment(name), options)).resolves.toBeDefined();
    await expect(remove(name)).rejects.toMatchObject({ reason: "ENVIRONMENT_NOT_FOUND" });
  });

  test("leaves nothing to a new environment of the name: it is another one, in the same bucket", async () => {
    const name = await newEnvironment(lab);
    const first = await get(name);
    const old = await filledTable(lab, newPlace(name));
    await lab.asPerson("dora").deployProject({
      ...inEnvironment(name),
      project: name,
      version: "1",
      assets: [`bronze.${old.name}`],
    });
    await lab.deps.pool.query(
      `insert into role_binding (tenant, subject, role, environment_id, granted_by, granted_at)
       values ('local', 'rosa', 'admin', $1, 'root', now())`,
      [first.environmentId],
    );
    await drop(old);
    await lab.timePasses(UNDO_DAYS * DAY_MS);
    await purgeAll();
    await remove(name);
    const { environment } = await admin().createEnvironment({ name });
    const second = present(environment);
    expect(second.environmentId).not.toBe(first.environmentId);
    expect(second.tableBucket).toBe(first.tableBucket);
    const namesake = await filledTable(lab, { ...newPlace(name), name: old.name });
    expect(namesake.projectAsset).toBe(false);
    expect(namesake.keyPrefix).not.toBe(old.keyPrefix);
    const { projects } = await lab.asPerson("dora").listProjects(inEnvironment(name));
    expect(projects).toEqual([]);
    const rosa = lab.as({ subject: "rosa", tenant: "local", roles: [], kind: "person" });
    await expect(rosa.getEnvironment(inEnvironment(name))).rejects.toMatchObject({
      kind: "denied",
    });
    // The purged table is still its first environment's.
    await expect(lab.asPerson("ana").undropTable(tableById(old.tableId))).rejects.toMatchObject({
      reason: "UNDO_PERIOD_OVER",
    });
  });

  test("never gives a bucket that was one tenant's to another", async () => {
    const { pool } = lab.deps;
    const name = await newEnvironment(lab);
    const { tableBucket } = await get(name);
    await remove(name);
    const stored = (tenant: string, environmentId: string) =>
      insertEnvironment(pool, anEnvironment({ environmentId, tenant, name, tableBucket }));
    expect(await stored("other", "01900000-0000-7000-8000-00000000e101")).toBe(false);
    expect(await stored("local", "01900000-0000-7000-8000-00000000e102")).toBe(true);
  });

  test("a service that settles a rule of it is told that it is gone", async () => {
    const name = await newEnvironment(lab);
    const { environmentId } = await get(name);
    await remove(name);
    await expect(
      lab.as(SERVICE_PRINCIPAL).touchEnvironment({
        environment: { ref: { case: "environmentId", value: environmentId } },
      }),
    ).rejects.toMatchObject({ reason: "ENVIRONMENT_NOT_FOUND" });
  });
});

describe("a deletion that meets the creation of a table", () => {
  const creation = (environment: string, gates: Parameters<typeof gatedCall>[0]) =>
    createTable(lab.deps, gatedCall(gates), {
      ...newPlace(environment),
      kind: "managed",
      columns: [],
      description: "",
      staged: true,
    });
  const deletion = (name: string, gates: Parameters<typeof gatedCall>[0]) =>
    deleteEnvironment(lab.deps, gatedCall<void>(gates), { kind: "name", name });

  test("T31 under way waits for it, and is refused", async () => {
    const name = await newEnvironment(lab);
    const [begun, after] = [gate(), gate()];
    const creating = creation(name, { begun, after });
    await begun.passed;
    const refused = expect(deletion(name, {})).rejects.toMatchObject({ reason: "NOT_EMPTY" });
    await untilBlocked(lab);
    after.open();
    await Promise.all([creating, refused]);
  });

  test("T31 that comes while it deletes lets no table into what is gone", async () => {
    const name = await newEnvironment(lab);
    const [begun, after] = [gate(), gate()];
    const deleting = deletion(name, { begun, after });
    await begun.passed;
    const refused = expect(creation(name, {})).rejects.toMatchObject({
      reason: "ENVIRONMENT_NOT_FOUND",
    });
    await untilBlocked(lab);
    after.open();
    await Promise.all([deleting, refused]);
    const { rows } = await lab.deps.pool.query(
      `select from catalog_table t join environment e using (environment_id)
       where e.deleted_at is not null and t.state <> 'purged'`,
    );
    expect(rows).toHaveLength(0);
  });

  test("T31 would let one in without the lock on names", async () => {
    const name = await newEnvironment(lab);
    const { environmentId } = await get(name);
    const [begun, after] = [gate(), gate()];
    const deleting = deletion(name, { begun, after });
    await begun.passed;
    const table = aTable({ tableId: newId(), environmentId, name: aName() });
    const unlocked = insertTable(lab.deps.pool, table);
    await untilBlocked(lab);
    after.open();
    await deleting;
    expect(await unlocked).toBe(true);
    await lab.deps.pool.query("delete from catalog_table where table_id = $1", [table.tableId]);
  });
});
