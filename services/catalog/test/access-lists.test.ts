import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId, type Principal, type Queryable } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import { listDroppedTables, listLiveTables, listOpenTables } from "../src/store/table-lists.ts";
import { ANA, bind, grant, inEnvironment, person, ROOT, refusals, somebody } from "./lab/access.ts";
import { type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
import { liveTable, newEnvironment, newPlace, present, tableById } from "./lab/tables.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab("catalog-access-lists");
});
afterAll(() => lab.close());

const idOf = async (name: string) =>
  present((await lab.as(ROOT).getEnvironment(inEnvironment(name))).environment).environmentId;

/** Fills an environment with live tables `bronze.t000001` … of `owner`; gives its id and name. */
async function filledEnvironment(count: number, owner = "filler") {
  const name = await newEnvironment(lab);
  const environmentId = await idOf(name);
  await lab.deps.pool.query(
    `insert into catalog_table (table_id, tenant, environment_id, namespace, name, kind, state, owner,
       change_version, created_at, last_changed_at)
     select gen_random_uuid(), 'local', $1, 'bronze', 't' || lpad(n::text, 6, '0'), 'view', 'live', $3,
       1, now(), now() from generate_series(1, $2) n`,
    [environmentId, count, owner],
  );
  await lab.deps.pool.query("analyze catalog_table");
  return { name, environmentId };
}

/** Lets somebody own every table of these names, or have a grant on each. */
const own = (environmentId: string, { subject }: Principal, names: readonly string[]) =>
  lab.deps.pool.query(
    "update catalog_table set owner = $2 where environment_id = $1 and name = any($3)",
    [environmentId, subject, names],
  );
const grantOn = (environmentId: string, { subject }: Principal, names: readonly string[]) =>
  lab.deps.pool.query(
    `insert into table_grant
     select table_id, $2, r, tenant, environment_id, 'filler', now()
     from catalog_table, unnest(array['read', 'write']) r where environment_id = $1 and name = any($3)`,
    [environmentId, subject, names],
  );

async function namesSeen(who: Principal, name: string, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor = "";
  do {
    const page = await lab.as(who).listTables({ ...inEnvironment(name), limit, cursor });
    pages.push(page.tables.map((table) => table.name));
    cursor = page.nextCursor;
  } while (cursor);
  return pages;
}

describe("ListTables", () => {
  test("T11 shows what is its own and what a grant opens, in full pages, with the rights on each", async () => {
    const { name, environmentId } = await filledEnvironment(1_000);
    const who = somebody();
    const owned = ["t000900", "t000005", "t000500"];
    const granted = ["t000001", "t000002", "t000499", "t000501", "t000998", "t000999", "t001000"];
    await own(environmentId, who, owned);
    // A grant on a table of its own shows it once.
    await grantOn(environmentId, who, [...granted, "t000500"]);
    const pages = await namesSeen(who, name, 4);
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 2]);
    expect(pages.flat()).toEqual([...owned, ...granted].sort());
    const { tables } = await lab.as(who).listTables({ ...inEnvironment(name), limit: 2 });
    expect(tables.map(({ rights }) => rights)).toEqual([
      ["table.read", "table.write"],
      ["table.read", "table.write"],
    ]);
    const inOther = { ...inEnvironment(name), namespace: "silver" };
    expect((await lab.as(who).listTables(inOther)).tables).toEqual([]);
  });

  test("T11 shows all to who may read all, by a bound role too, and nobody sees another environment's", async () => {
    const [here, elsewhere] = [await filledEnvironment(12), await filledEnvironment(3)];
    const who = somebody();
    await bind(lab, who, "reader", here.name);
    expect((await namesSeen(who, here.name, 5)).map(({ length }) => length)).toEqual([5, 5, 2]);
    await expect(namesSeen(who, elsewhere.name, 5)).rejects.toMatchObject({
      reason: "RIGHT_MISSING",
    });
    expect(await refusals(lab, elsewhere.environmentId, who)).toMatchObject([
      { resource: { kind: "environment", name: elsewhere.name }, details: { right: "table.read" } },
    ]);
  });

  test("T27 leaves a table out while it is dropped, and who has only that one is refused", async () => {
    const name = await newEnvironment(lab);
    const [who, table] = [somebody(), await liveTable(lab, newPlace(name))];
    await grant(lab, table, who, "read");
    expect(await namesSeen(who, name, 5)).toEqual([[table.name]]);
    await lab.as(ANA).dropTable(tableById(table.tableId));
    await expect(namesSeen(who, name, 5)).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
    await lab.as(ANA).undropTable(tableById(table.tableId));
    expect(await namesSeen(who, name, 5)).toEqual([[table.name]]);
  });

  test("a grant to the same subject in another tenant opens nothing", async () => {
    const name = await newEnvironment(lab);
    const [who, table] = [somebody(), await liveTable(lab, newPlace(name))];
    await grant(lab, table, who, "read");
    const namesake: Principal = { ...who, tenant: "other", roles: ["reader"] };
    await expect(namesSeen(namesake, name, 5)).rejects.toMatchObject({
      reason: "ENVIRONMENT_NOT_FOUND",
    });
  });
});

describe("ListDroppedTables", () => {
  const dropped = async (who: Principal, name: string, request = {}) =>
    (await lab.as(who).listDroppedTables({ ...inEnvironment(name), ...request })).tables.map(
      ({ tableId }) => tableId,
    );

  test("T28 shows what the caller may bring back: its own, or all by a role; a grant does not count", async () => {
    const name = await newEnvironment(lab);
    const [owner, reader, dropper] = [somebody(), somebody("reader"), somebody()];
    await bind(lab, owner, "data_engineer", name);
    const mine = present((await lab.as(owner).createTable({ name: newPlace(name) })).table);
    const anas = await liveTable(lab, newPlace(name));
    const left = await liveTable(lab, newPlace(name));
    for (const table of [anas, left]) await grant(lab, table, dropper, "drop");
    await lab
      .access(person("root", "superadmin"))
      .revokeRole({ subject: owner.subject, role: "data_engineer", ...inEnvironment(name) });
    for (const { tableId } of [mine, anas]) await lab.as(ROOT).dropTable(tableById(tableId));
    expect(await dropped(owner, name)).toEqual([mine.tableId]);
    expect(await dropped(person("ana"), name)).toEqual([anas.tableId]);
    expect(await dropped(somebody("data_engineer"), name)).toEqual([anas.tableId, mine.tableId]);
    expect(await dropped(ROOT, name)).toEqual([anas.tableId, mine.tableId]);
    expect(await dropped(reader, name)).toEqual([]);
    expect(await dropped(dropper, name)).toEqual([]);
    // The opposite: exactly those who see it can bring it back.
    for (const who of [reader, dropper]) {
      await expect(lab.as(who).undropTable(tableById(anas.tableId))).rejects.toMatchObject({
        reason: "RIGHT_MISSING",
      });
    }
    await lab.as(owner).undropTable(tableById(mine.tableId));
    await expect(dropped(somebody(), name)).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
  });

  test("T29 narrows to the generations of one name, and refuses half a name", async () => {
    const name = await newEnvironment(lab);
    const place = newPlace(name);
    const generations: Table[] = [];
    for (let index = 0; index < 3; index++) {
      const table = await liveTable(lab, place);
      generations.push(table);
      await lab.as(ANA).dropTable(tableById(table.tableId));
    }
    const other = await liveTable(lab, newPlace(name));
    await lab.as(ANA).dropTable(tableById(other.tableId));
    const only = { namespace: place.namespace, name: place.name };
    expect(await dropped(ANA, name, only)).toEqual(
      generations.map(({ tableId }) => tableId).reverse(),
    );
    expect(await dropped(person("ana"), name, only)).toHaveLength(3);
    await expect(dropped(ANA, name, { name: place.name })).rejects.toMatchObject({
      violations: [{ field: "/namespace" }],
    });
  });
});

describe("ListEnvironments", () => {
  const seen = async (who: Principal) => {
    const names: string[] = [];
    let cursor = "";
    do {
      const page = await lab.as(who).listEnvironments({ limit: 2, cursor });
      names.push(...page.environments.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor);
    return names;
  };

  test("shows those in which the caller has a role, a grant or a table, with the rights in each", async () => {
    const names = [];
    for (let index = 0; index < 6; index++) names.push(await newEnvironment(lab));
    const [byRole = "", byGrant = "", byOwnership = "", byDropped = "", notByDropped = ""] = names;
    const who = somebody();
    await bind(lab, who, "writer", byRole);
    await grant(lab, await liveTable(lab, newPlace(byGrant)), who, "read");
    for (const name of [byOwnership, byDropped]) {
      await bind(lab, who, "data_engineer", name);
      const { table } = await lab.as(who).createTable({ name: newPlace(name) });
      if (name === byDropped) await lab.as(who).dropTable(tableById(present(table).tableId));
      await lab
        .access(ROOT)
        .revokeRole({ subject: who.subject, role: "data_engineer", ...inEnvironment(name) });
    }
    const gone = await liveTable(lab, newPlace(notByDropped));
    await grant(lab, gone, who, "read");
    await lab.as(ANA).dropTable(tableById(gone.tableId));
    expect(await seen(who)).toEqual([byRole, byGrant, byOwnership, byDropped].sort());
    const { environments } = await lab.as(who).listEnvironments({});
    const rights = new Map(environments.map((each) => [each.name, each.rights]));
    expect(rights.get(byRole)).toEqual(["table.read", "table.write"]);
    expect(rights.get(byGrant)).toEqual([]);
    expect(await seen(somebody("reader"))).toEqual(expect.arrayContaining(names));
    expect(await seen(SERVICE_PRINCIPAL)).toEqual(expect.arrayContaining(names));
  });

  test("is refused to who would see none, and recorded", async () => {
    const who = somebody();
    await expect(seen(who)).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
    expect(await refusals(lab, "", who)).toMatchObject([
      { resource: { kind: "environment", name: "*" } },
    ]);
  });
});

describe("T11 a list of many tables looks at no more than it shows", () => {
  const COUNT = 20_000;
  let environmentId: string;
  const [owner, granted] = [somebody(), somebody()];
  beforeAll(async () => {
    ({ environmentId } = await filledEnvironment(COUNT));
    const named = (count: number, offset: number) =>
      Array.from({ length: count }, (_, n) => `t${String(offset + n * 1_000).padStart(6, "0")}`);
    await own(environmentId, owner, named(3, 7));
    await grantOn(environmentId, granted, named(10, 11));
    await lab.deps.pool.query(
      `insert into catalog_table (table_id, tenant, environment_id, namespace, name, kind, state, owner,
         change_version, created_at, last_changed_at, dropped_at, dropped_by, drop_reason, undo_until)
       select gen_random_uuid(), 'local', $1, 'bronze', 'd' || n, 'view', 'dropped',
         case when n % 5000 = 0 then $3 else 'filler' end,
         1, now(), now(), now() - n * interval '1 second', 'x', 'request', now() + interval '7 days'
       from generate_series(1, $2) n`,
      [environmentId, COUNT, owner.subject],
    );
    await lab.deps.pool.query("analyze catalog_table; analyze table_grant");
  });

  interface Plan {
    readonly "Actual Rows": number;
    readonly "Actual Loops": number;
    readonly "Rows Removed by Filter"?: number;
    readonly "Rows Removed by Index Recheck"?: number;
    readonly Plans?: readonly Plan[];
  }
  /** Rows that any step of a plan touched, those that it threw away included. */
  const touched = (plan: Plan): number =>
    (plan["Actual Rows"] +
      (plan["Rows Removed by Filter"] ?? 0) +
      (plan["Rows Removed by Index Recheck"] ?? 0)) *
      plan["Actual Loops"] +
    (plan.Plans ?? []).reduce((sum, each) => sum + touched(each), 0);

  /** Runs a list, and gives how many rows its statement touched. */
  async function rowsTouched(
    list: (db: Queryable) => Promise<unknown>,
    db: Queryable = lab.deps.pool,
  ): Promise<number> {
    let sum = 0;
    const explaining = {
      async query(text: string, values: unknown[]) {
        const { rows } = await db.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
          `explain (analyze, format json) ${text}`,
          values,
        );
        sum += touched(present(rows[0])["QUERY PLAN"][0].Plan);
        return { rows: [] };
      },
    };
    await list(explaining as unknown as Queryable);
    return sum;
  }

  const LIMIT = 100;
  const page = () => ({ environmentId, namespace: undefined, after: undefined, limit: LIMIT });
  const middle = () => ({ ...page(), after: { namespace: "bronze", name: "t010000" } });
  const droppedPage = { after: undefined, limit: LIMIT, place: undefined };

  test("for a reader of all", async () => {
    for (const each of [page(), middle()]) {
      expect(await rowsTouched((db) => listLiveTables(db, each))).toBeLessThan(10 * LIMIT);
    }
  });

  test("for the holder of 10 grants, and the owner of 3 tables", async () => {
    for (const { subject } of [granted, owner]) {
      for (const each of [page(), middle()]) {
        const list = (db: Queryable) => listOpenTables(db, each, { tenant: "local", subject });
        expect(await rowsTouched(list)).toBeLessThan(300);
      }
    }
  });

  test("for the owner of all of them", async () => {
    const list = (db: Queryable) =>
      listOpenTables(db, middle(), { tenant: "local", subject: "filler" });
    expect(await rowsTouched(list)).toBeLessThan(15 * LIMIT);
  });

  test("for the dropped ones, all of them or an owner's", async () => {
    for (const subject of [undefined, owner.subject]) {
      const list = (db: Queryable) =>
        listDroppedTables(db, { ...droppedPage, environmentId, owner: subject });
      expect(await rowsTouched(list)).toBeLessThan(10 * LIMIT);
    }
  });

  test("and without the index of owners it looks at far more", async () => {
    const client = await lab.deps.pool.connect();
    try {
      await client.query("begin");
      await client.query("drop index catalog_table_owner");
      const who = { tenant: "local", subject: owner.subject };
      const rows = await rowsTouched((db) => listOpenTables(db, page(), who), client);
      expect(rows).toBeGreaterThan(COUNT / 2);
    } finally {
      await client.query("rollback");
      client.release();
    }
  });
});

test("an environment id is no way around its name", async () => {
  const who = somebody();
  const byId = (value: string) =>
    lab.as(who).listTables({ environment: { ref: { case: "environmentId", value } } });
  const there = await idOf(await newEnvironment(lab));
  for (const id of [there, newId()]) {
    await expect(byId(id)).rejects.toMatchObject({
      reason: "RIGHT_MISSING",
      message: expect.stringContaining(id),
    });
  }
});
