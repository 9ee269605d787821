import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Principal, Queryable } from "@lapse/kit";
import type { Call } from "../src/app/call.ts";
import { deleteEnvironment } from "../src/app/delete-environment.ts";
import { deleteNamespace } from "../src/app/delete-namespace.ts";
import { deployProject } from "../src/app/deploy-project.ts";
import { undropTable } from "../src/app/undrop-table.ts";
import { updateTable } from "../src/app/update-table.ts";
import { listDroppedTables, listLiveTables } from "../src/store/table-lists.ts";
import { aName, type Lab, openLab } from "./lab/lab.ts";
import { liveTable, newEnvironment, newPlace } from "./lab/tables.ts";

const LIVE = 100_000;
const DROPPED = 20_000;

let lab: Lab;
let environment: string;
let environmentId: string;
beforeAll(async () => {
  lab = await openLab("catalog-large-environment");
  environment = await newEnvironment(lab);
  ({ environmentId } = await liveTable(lab, newPlace(environment)));
  await fill(lab.deps.pool);
}, 120_000);
afterAll(() => lab.close());

/** Tables n0.t0 … n49.t99999 that ana owns, and dropped generations of n0.gone and of names of their own. */
async function fill(db: Queryable): Promise<void> {
  const insert = (count: number, columns: string, values: string) =>
    db.query(
      `insert into catalog_table (table_id, tenant, environment_id, kind, owner, bucket, key_prefix,
         change_version, created_at, last_changed_at, namespace, name, state${columns})
       select id, 'local', $1, 'managed', 'ana', 'b', 'e/' || id || '/', 1, now(), now(), ${values}
       from (select gen_random_uuid() as id, nth from generate_series(0, $2::int - 1) as nth) made`,
      [environmentId, count],
    );
  await insert(LIVE, "", "'n' || nth % 50, 't' || nth, 'live'");
  await insert(
    DROPPED,
    ", dropped_at, drop_reason, undo_until",
    `'n0', case when nth % 1000 = 0 then 'gone' else 'gone' || nth end, 'dropped',
     now() - nth * interval '1 second', 'request', now() + interval '7 days'`,
  );
  await db.query("analyze catalog_table");
}

/** How many rows of `catalog_table` `run` reads; the counter also holds what this connection read before. */
async function rowsReadBy(tx: Queryable, run: () => Promise<unknown>): Promise<number> {
  const before = await rowsRead(tx);
  await run();
  return (await rowsRead(tx)) - before;
}

async function rowsRead(tx: Queryable): Promise<number> {
  const { rows } = await tx.query<{ read: bigint }>(
    `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
     where relname = 'catalog_table'`,
  );
  return Number(rows[0]?.read ?? 0n);
}

const DORA: Principal = { subject: "dora", tenant: "local", roles: ["admin"], kind: "person" };

/** How many rows of `catalog_table` a change reads, whether it is refused or not. */
async function changing<R>(change: (call: Call<R, unknown>) => Promise<unknown>): Promise<number> {
  let read: number | undefined;
  const call: Call<R, unknown> = {
    principal: DORA,
    traceparent: "",
    signal: new AbortController().signal,
    async answer(tx, run) {
      read = await rowsReadBy(tx, () =>
        run().catch((error: unknown) => expect(error).toMatchObject({ reason: "NOT_EMPTY" })),
      );
    },
  };
  await change(call);
  if (read === undefined) throw new Error("nothing was changed");
  return read;
}

/** The same of statements that only read. */
async function reading(read: (tx: Queryable) => Promise<unknown>): Promise<number> {
  const client = await lab.deps.pool.connect();
  try {
    await client.query("begin");
    return await rowsReadBy(client, () => read(client));
  } finally {
    await client.query("rollback");
    client.release();
  }
}

const here = () => ({ kind: "id", environmentId }) as const;
const idOf = async (where: string): Promise<string> => {
  const { rows } = await lab.deps.pool.query<{ table_id: string }>(
    `select table_id from catalog_table where ${where} limit 1`,
  );
  return rows[0]?.table_id ?? "";
};

describe("among 100,000 tables of an environment", () => {
  test("a page of a list reads little more than its rows, wherever it begins", async () => {
    const page = { environmentId, namespace: undefined, limit: 101 };
    for (const after of [undefined, { namespace: "n49", name: "t50049" }]) {
      const read = await reading((tx) => listLiveTables(tx, { ...page, after }));
      expect(read).toBeLessThanOrEqual(110);
    }
    const narrowed = await reading((tx) =>
      listLiveTables(tx, { ...page, namespace: "n7", after: { namespace: "n7", name: "t8" } }),
    );
    expect(narrowed).toBeLessThanOrEqual(110);
  });

  test("T29 the generations of one name are found among 20,000 dropped tables by themselves", async () => {
    const read = await reading((tx) =>
      listDroppedTables(tx, {
        environmentId,
        place: { namespace: "n0", name: "gone" },
        owner: undefined,
        after: undefined,
        limit: 101,
      }),
    );
    expect(read).toBeLessThanOrEqual(30);
  });

  test("a rename and an undrop read a handful of rows", async () => {
    const renamed = await idOf("name = 't77777'");
    const rename = await changing((call: Parameters<typeof updateTable>[1]) =>
      updateTable(lab.deps, call, { table: { kind: "id", tableId: renamed }, name: aName() }),
    );
    expect(rename).toBeLessThanOrEqual(10);
    const undrop = await changing((call: Parameters<typeof undropTable>[1]) =>
      undropTable(lab.deps, call, {
        table: { kind: "name", environment, namespace: "n0", name: "gone7" },
        asName: undefined,
      }),
    );
    expect(undrop).toBeLessThanOrEqual(10);
  });

  test("T20 deploying 10,000 assets costs by what differs from the version before", async () => {
    const assets = Array.from({ length: 10_000 }, (_, nth) => `n${nth % 50}.t${nth}`).sort();
    const deploy = async (version: string, names: readonly string[]) => {
      const startedAt = performance.now();
      await changing((call: Parameters<typeof deployProject>[1]) =>
        deployProject(lab.deps, call, {
          environment: here(),
          project: "shop",
          version,
          assets: names,
        }),
      );
      return performance.now() - startedAt;
    };
    const first = await deploy("1", assets);
    const { rows } = await lab.deps.pool.query<{ count: bigint }>(
      "select count(*) as count from catalog_table where project_asset",
    );
    expect(Number(rows[0]?.count)).toBe(assets.length);
    const second = await deploy("2", [...assets.slice(1), "n0.not_there"].sort());
    expect(second).toBeLessThan(first / 2);
  });

  test("T31 the refusal to delete an environment or a namespace counts no further than it says", async () => {
    const whole = await changing((call: Parameters<typeof deleteEnvironment>[1]) =>
      deleteEnvironment(lab.deps, call, here()),
    );
    expect(whole).toBeLessThanOrEqual(10_100);
    const one = await changing((call: Parameters<typeof deleteNamespace>[1]) =>
      deleteNamespace(lab.deps, call, { environment: here(), path: "n7" }),
    );
    expect(one).toBeLessThanOrEqual(2_100);
  });
});
