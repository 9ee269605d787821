import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type LapseError, newId, type Principal, type Queryable, type Role } from "@lapse/kit";
import { CommitOperation, type Table } from "@lapse/proto/catalog";
import { requireTable } from "../src/app/find-table.ts";
import { bind, grant, inEnvironment, person, ROOT, refusals, somebody } from "./lab/access.ts";
import { type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
import { putFile } from "./lab/table-files.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  present,
  tableById,
  tableByName,
} from "./lab/tables.ts";

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-access");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const rightsOn = async (who: Principal, { tableId }: Table) =>
  present((await lab.as(who).getTable(tableById(tableId))).table).rights;
const rightsIn = async (who: Principal, name = environment) =>
  present((await lab.as(who).getEnvironment(inEnvironment(name))).environment).rights;

/** What the call was refused with. */
const refused = (call: Promise<unknown>): Promise<LapseError> =>
  call.then(
    () => {
      throw new Error("the call was not refused");
    },
    (error) => error,
  );

const ALL_ON_TABLE = ["access.manage", "table.drop", "table.read", "table.write"];
const ENVIRONMENT_ADMIN = [
  "access.manage",
  "environment.manage",
  "table.create",
  "table.drop",
  "table.read",
  "table.write",
];
const ADMIN = ["audit.read", "sweep.manage", ...ENVIRONMENT_ADMIN].sort();

describe("the rights of a principal", () => {
  test.each<[Role, string[], string[]]>([
    ["reader", ["table.read"], ["table.read"]],
    ["writer", ["table.read", "table.write"], ["table.read", "table.write"]],
    [
      "data_engineer",
      ["table.create", "table.drop", "table.read", "table.write"],
      ["table.drop", "table.read", "table.write"],
    ],
    ["admin", ADMIN, ALL_ON_TABLE],
    ["superadmin", ADMIN, ALL_ON_TABLE],
  ])(
    "T6 a %s by its token has them in the environment and on its tables, sorted",
    async (role, inside, on) => {
      const table = await liveTable(lab, newPlace(environment));
      expect(await rightsIn(somebody(role))).toEqual(inside);
      expect(await rightsOn(somebody(role), table)).toEqual(on);
    },
  );

  test("T6 a role bound in the tenant counts as one in the token", async () => {
    const [table, who] = [await liveTable(lab, newPlace(environment)), somebody()];
    await bind(lab, who, "admin");
    expect(await rightsIn(who)).toEqual(ADMIN);
    expect(await rightsOn(who, table)).toEqual(ALL_ON_TABLE);
  });

  test("T6 a role bound in an environment counts there only, and gives nothing that is the tenant's", async () => {
    const [here, elsewhere] = [await newEnvironment(lab), await newEnvironment(lab)];
    const [table, other] = [
      await liveTable(lab, newPlace(here)),
      await liveTable(lab, newPlace(elsewhere)),
    ];
    const who = somebody();
    await bind(lab, who, "admin", here);
    expect(await rightsIn(who, here)).toEqual(ENVIRONMENT_ADMIN);
    expect(await rightsOn(who, table)).toEqual(ALL_ON_TABLE);
    expect(await refused(rightsIn(who, elsewhere))).toMatchObject({ reason: "RIGHT_MISSING" });
    expect(await refused(rightsOn(who, other))).toMatchObject({ reason: "RIGHT_MISSING" });
    expect(await refused(lab.as(who).createEnvironment({ name: "env-of-mine" }))).toMatchObject({
      reason: "RIGHT_MISSING",
    });
  });

  test("T6 a token role, a bound role and a grant add up", async () => {
    const [table, who] = [await liveTable(lab, newPlace(environment)), somebody("reader")];
    await bind(lab, who, "writer", environment);
    expect(await rightsOn(who, table)).toEqual(["table.read", "table.write"]);
    await grant(lab, table, who, "drop");
    expect(await rightsOn(who, table)).toEqual(["table.drop", "table.read", "table.write"]);
  });

  test("T6 the owner has all of them on its table and none in the environment", async () => {
    const table = await liveTable(lab, newPlace(environment));
    expect(await rightsOn(person("ana"), table)).toEqual(ALL_ON_TABLE);
    expect(await rightsIn(person("ana"))).toEqual([]);
  });

  test("a service has all of them", async () => {
    const table = await liveTable(lab, newPlace(environment));
    expect(await rightsOn(SERVICE_PRINCIPAL, table)).toEqual(ALL_ON_TABLE);
  });

  test("the same subject of another tenant has nothing of it", async () => {
    const [table, who] = [await liveTable(lab, newPlace(environment)), somebody()];
    await grant(lab, table, who, "read", "write", "drop");
    await bind(lab, who, "superadmin");
    const namesake = { ...who, tenant: "other", roles: ["superadmin" as const] };
    expect(await refused(rightsOn(namesake, table))).toMatchObject({ reason: "TABLE_NOT_FOUND" });
    expect(await refused(rightsOn({ ...namesake, roles: [] }, table))).toMatchObject({
      reason: "RIGHT_MISSING",
    });
    expect(await refused(rightsIn(namesake))).toMatchObject({ reason: "ENVIRONMENT_NOT_FOUND" });
  });

  test("are asked of the database at every call: a grant taken back counts at once", async () => {
    const [table, who] = [await liveTable(lab, newPlace(environment)), somebody()];
    await grant(lab, table, who, "read");
    expect(await rightsOn(who, table)).toEqual(["table.read"]);
    await lab
      .access(ROOT)
      .revokeTable({ ...tableById(table.tableId), subject: who.subject, right: "read" });
    expect(await refused(rightsOn(who, table))).toMatchObject({ reason: "RIGHT_MISSING" });
  });

  test("are looked up for nobody whose token gives all of them, nor where it gives what is asked and none is shown", async () => {
    const { tableId } = await liveTable(lab, newPlace(environment));
    const lookups = async (who: Principal, options = {}) => {
      const statements: string[] = [];
      const listening: Queryable = {
        query: (text, values) => {
          statements.push(String(text));
          return lab.deps.pool.query(text as string, values);
        },
      };
      await requireTable(listening, who, { kind: "id", tableId }, "table.read", options);
      return statements.filter((text) => text.includes("role_binding")).length;
    };
    expect(await lookups(ROOT)).toBe(0);
    expect(await lookups(SERVICE_PRINCIPAL)).toBe(0);
    expect(await lookups(somebody("reader"))).toBe(1);
    expect(await lookups(somebody("reader"), { shown: false })).toBe(0);
    expect(await lookups(person("ana"), { shown: false })).toBe(0);
  });
});

describe("whoever has a grant may exactly that", () => {
  const attempts = (who: Principal, table: Table) => ({
    read: () => lab.as(who).getTable(tableById(table.tableId)),
    files: () => lab.as(who).listTableFiles(tableById(table.tableId)),
    write: () => lab.as(who).updateTable({ ...tableById(table.tableId), description: newId() }),
    touch: () => lab.as(who).touchTable(tableById(table.tableId)),
    hold: () => lab.as(who).createHold(tableById(table.tableId)),
    access: () => lab.access(who).getTableAccess(tableById(table.tableId)),
    drop: () => lab.as(who).dropTable(tableById(table.tableId)),
  });
  type Attempt = keyof ReturnType<typeof attempts>;

  test.each<["read" | "write" | "drop", Attempt[]]>([
    ["read", ["read", "files"]],
    ["write", ["read", "files", "write", "touch", "hold"]],
    ["drop", ["read", "files", "touch", "drop"]],
  ])(
    "T6 a grant to %s opens %j and nothing else, each refusal is recorded",
    async (right, open) => {
      const who = somebody();
      const table = await filledTable(lab, newPlace(environment));
      await grant(lab, table, who, right);
      const outcomes: Partial<Record<Attempt, string>> = {};
      const all = attempts(who, table);
      for (const [attempt, call] of Object.entries(all) as [Attempt, () => Promise<unknown>][]) {
        outcomes[attempt] = await call().then(
          () => "done",
          (error: LapseError) => error.reason,
        );
        if (outcomes[attempt] !== "done") {
          expect((await refusals(lab, table.tableId, who)).length).toBeGreaterThan(0);
        }
      }
      const opened = Object.entries(outcomes).filter(([, outcome]) => outcome === "done");
      expect(opened.map(([attempt]) => attempt)).toEqual(open);
      const others = Object.values(outcomes).filter((outcome) => outcome !== "done");
      expect(new Set(others)).toEqual(new Set(["RIGHT_MISSING"]));
      expect(await refusals(lab, table.tableId, who)).toHaveLength(others.length);
    },
  );

  test("T6 a writer of one table commits to it, and to no other", async () => {
    const who = somebody();
    const [mine, other] = [
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
    ];
    await grant(lab, mine, who, "write");
    const commit = async (table: Table) =>
      lab.as(who).commitTable({
        ...tableById(table.tableId),
        operation: CommitOperation.APPEND,
        files: [await putFile(lab.store, table)],
      });
    expect((await commit(mine)).table?.rights).toEqual(["table.read", "table.write"]);
    expect(await refused(commit(other))).toMatchObject({ reason: "RIGHT_MISSING" });
    expect((await refusals(lab, other.tableId, who)).at(-1)).toMatchObject({
      details: { right: "table.write", method: "lapse.catalog.v1.CatalogService/CommitTable" },
    });
  });

  test("T6 a data engineer of one environment creates there and owns it, and nowhere else", async () => {
    const [here, elsewhere] = [await newEnvironment(lab), await newEnvironment(lab)];
    const who = somebody();
    await bind(lab, who, "data_engineer", here);
    const { table } = await lab.as(who).createTable({ name: newPlace(here) });
    expect(table).toMatchObject({ owner: who.subject, rights: ALL_ON_TABLE });
    expect(await refused(lab.as(who).createTable({ name: newPlace(elsewhere) }))).toMatchObject({
      reason: "RIGHT_MISSING",
    });
    expect(
      await refused(lab.as(who).updateEnvironment({ ...inEnvironment(here), protected: true })),
    ).toMatchObject({
      reason: "RIGHT_MISSING",
    });
  });

  test("T21 who lost the right to write renews no hold any longer", async () => {
    const [table, who] = [await liveTable(lab, newPlace(environment)), somebody()];
    await grant(lab, table, who, "write");
    const { hold } = await lab.as(who).createHold(tableById(table.tableId));
    const renew = () => lab.as(who).renewHold({ holdId: present(hold).holdId });
    await renew();
    await lab
      .access(ROOT)
      .revokeTable({ ...tableById(table.tableId), subject: who.subject, right: "write" });
    expect(await refused(renew())).toMatchObject({ reason: "RIGHT_MISSING" });
  });
});

describe("who may know nothing of a thing", () => {
  /** What a caller sees of a refusal, with what it named itself left out. */
  const seen = (error: LapseError, named: string) => ({
    kind: error.kind,
    reason: error.reason,
    message: error.message.replaceAll(named, "IT"),
    details: error.details,
  });

  test("is told the same of a table whether there is one or not, by id and by name", async () => {
    const who = somebody();
    await grant(lab, await liveTable(lab, newPlace(environment)), who, "read");
    const there = newPlace(environment);
    const table = await liveTable(lab, there);
    const missing = newPlace(environment);
    const byId = async (id: string) =>
      seen(await refused(lab.as(who).dropTable(tableById(id))), id);
    expect(await byId(table.tableId)).toEqual(await byId(newId()));
    expect(await byId(table.tableId)).toMatchObject({ details: { right: "table.drop" } });
    const byName = async (place: typeof there) =>
      seen(await refused(lab.as(who).getTable(tableByName(place))), place.name);
    expect(await byName(there)).toEqual(await byName(missing));
    const elsewhere = { ...there, environment: "no-such-environment" };
    expect(await byName(there)).toEqual(await byName(elsewhere));
    expect((await refusals(lab, table.tableId, who)).at(-1)).toMatchObject({
      resource: { kind: "table", name: `bronze.${there.name}`, environment },
      details: { right: "table.read" },
      outcome: "DECISION_OUTCOME_REFUSED",
      reason: "right_missing",
      tenant: "local",
    });
  });

  test("is told the same of an environment whether there is one or not", async () => {
    const who = somebody();
    await bind(lab, who, "admin", await newEnvironment(lab));
    const ask = async (name: string) =>
      seen(await refused(lab.as(who).listTables(inEnvironment(name))), name);
    expect(await ask(environment)).toEqual(await ask("no-such-environment"));
    const create = async (name: string) =>
      seen(
        await refused(
          lab.as(who).createTable({ name: { environment: name, namespace: "a", name: "b" } }),
        ),
        name,
      );
    expect(await create(environment)).toEqual(await create("no-such-environment"));
  });

  test("is told that a table is missing as soon as it may see those that are not", async () => {
    const who = somebody();
    await bind(lab, who, "reader", environment);
    expect(await refused(lab.as(who).getTable(tableByName(newPlace(environment))))).toMatchObject({
      reason: "TABLE_NOT_FOUND",
    });
    expect(await refused(lab.as(who).getTable(tableById(newId())))).toMatchObject({
      reason: "RIGHT_MISSING",
    });
  });

  test("learns nothing of another tenant's thing, and neither log names it", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const stranger: Principal = { ...somebody("admin"), tenant: "other" };
    expect(await refused(lab.as(stranger).dropTable(tableById(table.tableId)))).toMatchObject({
      kind: "not_found",
      reason: "TABLE_NOT_FOUND",
    });
    expect(
      await refused(lab.access(stranger).getTableAccess(tableById(table.tableId))),
    ).toMatchObject({
      reason: "TABLE_NOT_FOUND",
    });
    expect(await refusals(lab, table.tableId, stranger)).toEqual([]);
    const nobody: Principal = { ...somebody(), tenant: "other" };
    expect(await refused(lab.as(nobody).dropTable(tableById(table.tableId)))).toMatchObject({
      reason: "RIGHT_MISSING",
    });
    // Recorded in its own tenant's log, under what it asked for.
    expect(await refusals(lab, table.tableId, nobody)).toMatchObject([
      { tenant: "other", resource: { id: table.tableId, name: table.tableId } },
    ]);
  });
});
