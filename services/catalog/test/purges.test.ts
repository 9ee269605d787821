import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createPool, newId } from "@lapse/kit";
import { ObjectStoreError } from "@lapse/object-store";
import { CommitOperation, type Table } from "@lapse/proto/catalog";
import { TableKind } from "@lapse/proto/events";
import { waitFor } from "@lapse/test-kit";
import { answerDue } from "../src/app/answer-due.ts";
import { beginDuePurges, giveUpStagedTables } from "../src/app/begin-purges.ts";
import { purgeNextTable } from "../src/app/purge-table.ts";
import { reclaimFiles } from "../src/app/reclaim-files.ts";
import { measureBacklog } from "../src/app/remove-ended.ts";
import { claimPurge } from "../src/store/purges.ts";
import { findTable } from "../src/store/tables.ts";
import { dueNow } from "./lab/due.ts";
import { gate } from "./lab/gate.ts";
import { DAY_MS, type Lab, openLab } from "./lab/lab.ts";
import { putFile, storedPaths } from "./lab/table-files.ts";
import {
  filledTable,
  liveTable,
  newEnvironment,
  newPlace,
  present,
  stagedTable,
  tableById,
} from "./lab/tables.ts";

let lab: Lab;
let environment: string;
const { signal } = new AbortController();
beforeAll(async () => {
  lab = await openLab("catalog-purges", 1);
  environment = await newEnvironment(lab);
});
afterEach(async () => {
  lab.store.interfere();
  await lab.deps.pool.query(
    "update table_purge set not_before = now(), claim = null, claimed_until = null",
  );
  await purgeAll();
});
afterAll(() => lab.close());

const drop = ({ tableId }: Pick<Table, "tableId">) =>
  lab.asPerson("ana").dropTable(tableById(tableId));
const stateOf = async ({ tableId }: Pick<Table, "tableId">) =>
  (await findTable(lab.deps.pool, tableId))?.table.state;
const purgeNext = () => purgeNextTable(lab.deps, { signal });
const purgeAll = async () => {
  while (await purgeNext());
};
const typesOf = async ({ tableId }: Pick<Table, "tableId">) =>
  (await lab.decisions(tableId)).map(({ type }) => type);

/** A table with files whose undo period is over and whose purge has begun. */
async function purging(fileCount = 2): Promise<Table> {
  const table = await filledTable(lab, newPlace(environment), fileCount);
  await drop(table);
  await lab.timePasses(DAY_MS);
  await beginDuePurges(lab.deps, signal);
  return table;
}

describe("T30 a purge", () => {
  test("deletes the files, uncommitted ones too, then ends in purged with event and decision", async () => {
    const table = await filledTable(lab, newPlace(environment), 2);
    await putFile(lab.store, table, { path: "tmp/uncommitted.parquet" });
    await drop(table);
    await lab.timePasses(DAY_MS - 60_000);
    await beginDuePurges(lab.deps, signal);
    expect(await stateOf(table)).toBe("dropped");
    await lab.timePasses(60_000);
    await beginDuePurges(lab.deps, signal);
    expect(await stateOf(table)).toBe("purging");
    expect(await storedPaths(lab.store, table)).toHaveLength(3);
    await purgeAll();
    expect(await stateOf(table)).toBe("purged");
    expect(await storedPaths(lab.store, table)).toEqual([]);
    expect((await lab.events(table.tableId)).slice(-2)).toMatchObject([
      {
        subject: "catalog.table.changed",
        message: { change: "TABLE_CHANGE_STATE", table: { state: "TABLE_STATE_PURGING" } },
      },
      {
        subject: "catalog.table.purged",
        message: { table: { state: "TABLE_STATE_PURGED" }, purgedAt: expect.any(String) },
      },
    ]);
    const decision = present((await lab.decisions(table.tableId)).at(-1));
    expect(decision).toMatchObject({
      type: "TABLE_PURGED",
      reason: "undo_period_over",
      outcome: "DECISION_OUTCOME_DONE",
    });
    expect(decision).not.toHaveProperty("actor");
    const { rows } = await lab.deps.pool.query(
      "select from data_file where table_id = $1 union all select from table_snapshot where table_id = $1",
      [table.tableId],
    );
    expect(rows).toHaveLength(0);
  });

  test("leaves every other table alone, also one of the same name and one next to it", async () => {
    const place = newPlace(environment);
    const old = await filledTable(lab, place);
    await drop(old);
    await lab.timePasses(DAY_MS);
    const namesake = await filledTable(lab, place);
    await beginDuePurges(lab.deps, signal);
    await purgeAll();
    expect(await stateOf(old)).toBe("purged");
    expect(await storedPaths(lab.store, namesake)).toHaveLength(1);
  });

  test("happens to what has no files without the store", async () => {
    const view = await liveTable(lab, newPlace(environment), TableKind.VIEW);
    await drop(view);
    await lab.timePasses(DAY_MS);
    await beginDuePurges(lab.deps, signal);
    lab.store.interfere(() => {
      throw new Error("the store must not be asked");
    });
    await purgeAll();
    expect(await stateOf(view)).toBe("purged");
  });

  test("that fails is recorded once, tried again later and later, and lets others go on", async () => {
    const [failing, other] = [await purging(), await purging()];
    lab.store.interfere((verb, _, key) => {
      if (verb === "delete" && key.startsWith(failing.keyPrefix))
        throw new ObjectStoreError("unavailable", "the disk is read-only");
    });
    await purgeAll();
    expect(await stateOf(failing)).toBe("purging");
    expect(await stateOf(other)).toBe("purged");
    // Not due again yet: nothing is tried.
    expect(await purgeNext()).toBe(false);
    await lab.timePasses(6_000);
    await purgeAll();
    await lab.timePasses(6_000);
    expect(await purgeNext()).toBe(false);
    await measureBacklog(lab.deps);
    expect(await lab.metric("lapse_purges")).toMatch(/state="failing".* 1/);
    expect(await lab.metric("lapse_purge_failures_total")).toMatch(/ 2$/m);
    expect(
      (await lab.decisions(failing.tableId)).filter(({ type }) => type === "TABLE_PURGE_FAILED"),
    ).toMatchObject([{ outcome: "DECISION_OUTCOME_FAILED", reason: "object_store_unavailable" }]);
    lab.store.interfere();
    await lab.timePasses(10_000);
    await purgeAll();
    expect(await stateOf(failing)).toBe("purged");
    expect(await storedPaths(lab.store, failing)).toEqual([]);
    expect((await typesOf(failing)).slice(-2)).toEqual(["TABLE_PURGE_FAILED", "TABLE_PURGED"]);
  });

  test("that hangs stalls neither the purges of other tables nor a drop, an expiry or an undrop", async () => {
    const [slow, other] = [await purging(), await purging()];
    const [begun, open] = [gate(), gate()];
    lab.store.interfere(async (verb, _, key) => {
      if (verb !== "delete" || !key.startsWith(slow.keyPrefix)) return;
      begun.open();
      await open.passed;
    });
    const hanging = purgeNext();
    await begun.passed;
    await purgeNext();
    expect([await stateOf(slow), await stateOf(other)]).toEqual(["purging", "purged"]);
    const expired = await filledTable(lab, newPlace(environment));
    await answerDue(lab.deps, [await dueNow(lab, expired)]);
    const dropped = await filledTable(lab, newPlace(environment));
    await drop(dropped);
    await lab.asPerson("ana").undropTable(tableById(expired.tableId));
    expect([await stateOf(expired), await stateOf(dropped)]).toEqual(["live", "dropped"]);
    open.open();
    await hanging;
    expect(await stateOf(slow)).toBe("purged");
  });

  test("is owed from the moment the drop was answered: whoever starts later does it, though nothing told them", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await drop(table);
    await lab.timePasses(DAY_MS);
    // A process that was not there when the table was dropped: all it has is the database.
    const pool = createPool({
      url: lab.url,
      size: 2,
      applicationName: "later",
      log: lab.deps.log,
    });
    const later = { ...lab.deps, pool };
    await beginDuePurges(later, signal);
    while (await purgeNextTable(later, { signal }));
    await pool.end();
    expect(await stateOf(table)).toBe("purged");
    expect(await storedPaths(lab.store, table)).toEqual([]);
  });

  test("is refused, visibly, while another table's location is the same, above or below", async () => {
    const others: [string, (prefix: string) => string][] = [
      ["the same", (prefix) => prefix],
      ["above", (prefix) => prefix.slice(0, prefix.indexOf("/") + 1)],
      ["below", (prefix) => `${prefix}data/`],
    ];
    for (const [, prefixOf] of others) {
      const other = await liveTable(lab, newPlace(environment));
      const move = (prefix: string) =>
        lab.deps.pool.query("update catalog_table set key_prefix = $2 where table_id = $1", [
          other.tableId,
          prefix,
        ]);
      const table = await purging();
      await move(prefixOf(table.keyPrefix));
      await purgeNext();
      expect(await stateOf(table)).toBe("purging");
      expect(await storedPaths(lab.store, table)).toHaveLength(2);
      expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
        type: "TABLE_PURGE_FAILED",
        reason: "location_shared",
        details: { error: expect.stringContaining(other.tableId) },
      });
      // With the other out of the way it goes on.
      await move(other.keyPrefix);
      await lab.timePasses(6_000);
      await purgeAll();
      expect(await stateOf(table)).toBe("purged");
    }
  });

  test("minds no table that only begins alike", async () => {
    const table = await purging();
    const other = await liveTable(lab, newPlace(environment));
    await lab.deps.pool.query("update catalog_table set key_prefix = $2 where table_id = $1", [
      other.tableId,
      `${table.keyPrefix.slice(0, -1)}0/`,
    ]);
    await purgeAll();
    expect(await stateOf(table)).toBe("purged");
  });

  test("is done by one of many workers, once", async () => {
    const tables = [];
    for (let index = 0; index < 8; index++) tables.push(await purging(1));
    await Promise.all([purgeAll(), purgeAll(), purgeAll(), beginDuePurges(lab.deps, signal)]);
    for (const table of tables) {
      expect((await typesOf(table)).filter((type) => type === "TABLE_PURGED")).toHaveLength(1);
    }
  });

  test("of a worker that was killed is taken over after its claim ran out, and goes on with what is left", async () => {
    const table = await purging(3);
    // What a killed worker leaves: a claim that nobody renews, and some files gone.
    const dead = await claimPurge(lab.deps.pool, {
      claim: newId(),
      leaseMs: 60_000,
      held: [],
    });
    expect(dead?.tableId).toBe(table.tableId);
    const [first] = await storedPaths(lab.store, table);
    await lab.store.delete(table.bucket, table.keyPrefix + first);
    expect(await purgeNext()).toBe(false);
    await lab.timePasses(60_000);
    expect(await purgeNext()).toBe(true);
    expect(await stateOf(table)).toBe("purged");
    expect(await storedPaths(lab.store, table)).toEqual([]);
  });

  test("of a worker that was only slow ends as the other's: the slow one writes nothing", async () => {
    const table = await purging(2);
    const [reached, go] = [gate(), gate()];
    lab.store.interfere(async (verb) => {
      if (verb !== "delete") return;
      lab.store.interfere();
      reached.open();
      await go.passed;
    });
    // Its heartbeat does not come within the test.
    const slow = purgeNextTable(lab.deps, { signal, claimMs: 600_000 });
    await reached.passed;
    await lab.timePasses(600_000);
    expect(await purgeNext()).toBe(true);
    expect(await stateOf(table)).toBe("purged");
    go.open();
    await slow;
    expect(await stateOf(table)).toBe("purged");
    expect((await typesOf(table)).filter((type) => String(type).startsWith("TABLE_PURGE"))).toEqual(
      ["TABLE_PURGED"],
    );
  });

  test("keeps its claim by a heartbeat as long as it works", async () => {
    const table = await purging(2);
    const [reached, go] = [gate(), gate()];
    lab.store.interfere(async (verb) => {
      if (verb !== "delete") return;
      reached.open();
      await go.passed;
    });
    const working = purgeNextTable(lab.deps, { signal, claimMs: 300 });
    await reached.passed;
    const until = async () => {
      const { rows } = await lab.deps.pool.query<{ claimed_until: Date }>(
        "select claimed_until from table_purge where table_id = $1",
        [table.tableId],
      );
      return present(rows[0]).claimed_until.getTime();
    };
    const first = await until();
    await waitFor(async () => (await until()) > first + 300);
    expect(await purgeNext()).toBe(false);
    go.open();
    await working;
    expect(await stateOf(table)).toBe("purged");
  });

  test("that is stopped gives its claim back, so that another goes on at once", async () => {
    const table = await purging(2);
    const stop = new AbortController();
    lab.store.interfere((verb) => {
      if (verb === "delete") {
        stop.abort();
        throw new ObjectStoreError("unavailable", "stopped");
      }
    });
    await purgeNextTable(lab.deps, { signal: stop.signal });
    lab.store.interfere();
    expect(await typesOf(table)).not.toContain("TABLE_PURGE_FAILED");
    expect(await purgeNext()).toBe(true);
    expect(await stateOf(table)).toBe("purged");
  });
});

describe("the undo period", () => {
  test("was fixed at the drop: no setting and no restart moves it", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await drop(table);
    const shorter = { ...lab.deps, undo: { undoDays: 0, dayMs: 1 } };
    await beginDuePurges(shorter, signal);
    expect(await stateOf(table)).toBe("dropped");
    await lab.timePasses(DAY_MS);
    const longer = { ...lab.deps, undo: { undoDays: 3_650, dayMs: DAY_MS } };
    await beginDuePurges(longer, signal);
    expect(await stateOf(table)).toBe("purging");
  });

  test("of one table that cannot be moved on does not stop the others", async () => {
    const [bad, good] = [
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
    ];
    await drop(bad);
    await drop(good);
    await lab.timePasses(DAY_MS);
    await lab.deps.pool.query(
      "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$",
    );
    await lab.deps.pool.query(
      `create trigger broken before update on catalog_table for each row when (new.table_id = '${bad.tableId}') execute function refuse()`,
    );
    await beginDuePurges(lab.deps, signal);
    expect([await stateOf(bad), await stateOf(good)]).toEqual(["dropped", "purging"]);
    await lab.deps.pool.query("drop trigger broken on catalog_table; drop function refuse");
    await beginDuePurges(lab.deps, signal);
    expect(await stateOf(bad)).toBe("purging");
  });

  test("of more tables than a page ends for each", async () => {
    await lab.deps.pool.query(
      `insert into catalog_table (table_id, tenant, environment_id, namespace, name, kind, state, owner,
         change_version, created_at, last_changed_at, dropped_at, drop_reason, undo_until)
       select gen_random_uuid(), 'local', environment_id, 'many', 't' || n, 'view', 'dropped', 'ana', 1,
         now(), now(), now(), 'request', now()
       from environment, generate_series(1, 450) as n where name = $1`,
      [environment],
    );
    await beginDuePurges(lab.deps, signal);
    const { rows } = await lab.deps.pool.query(
      "select from catalog_table where namespace = 'many' and state = 'dropped'",
    );
    expect(rows).toHaveLength(0);
  });
});

describe("a staged table without a commit", () => {
  test("is given up after a day, and its files deleted", async () => {
    const staged = await stagedTable(lab, newPlace(environment));
    await putFile(lab.store, staged);
    await lab.timePasses(DAY_MS - 60_000);
    await giveUpStagedTables(lab.deps, signal);
    expect(await stateOf(staged)).toBe("staged");
    await lab.timePasses(60_000);
    await giveUpStagedTables(lab.deps, signal);
    expect(await stateOf(staged)).toBe("purging");
    await expect(
      lab
        .asPerson("ana")
        .commitTable({ ...tableById(staged.tableId), operation: CommitOperation.APPEND }),
    ).rejects.toMatchObject({ reason: "TABLE_PURGING" });
    await purgeAll();
    expect(await stateOf(staged)).toBe("purged");
    expect(await storedPaths(lab.store, staged)).toEqual([]);
    expect((await lab.decisions(staged.tableId)).at(-1)).toMatchObject({
      type: "TABLE_PURGED",
      reason: "never_committed",
    });
  });

  test("T21 is left to a writer that holds it", async () => {
    const staged = await stagedTable(lab, newPlace(environment));
    await lab.timePasses(DAY_MS);
    await lab.asPerson("ana").createHold(tableById(staged.tableId));
    await giveUpStagedTables(lab.deps, signal);
    expect(await stateOf(staged)).toBe("staged");
    await lab.timePasses(lab.deps.holdTtlMs);
    await giveUpStagedTables(lab.deps, signal);
    expect(await stateOf(staged)).toBe("purging");
  });
});

describe("a file that a commit took out of its table", () => {
  const replaced = async () => {
    const table = await filledTable(lab, newPlace(environment));
    const [old] = await storedPaths(lab.store, table);
    const file = await putFile(lab.store, table);
    await lab.asPerson("ana").commitTable({
      ...tableById(table.tableId),
      operation: CommitOperation.REPLACE,
      files: [file],
    });
    return { table, old: present(old), file };
  };

  test("stays for the undo period, then is deleted, and the current files stay", async () => {
    const { table, old, file } = await replaced();
    await lab.timePasses(DAY_MS - 60_000);
    await reclaimFiles(lab.deps, signal);
    expect((await storedPaths(lab.store, table)).sort()).toEqual([old, file.path].sort());
    await lab.timePasses(60_000);
    await reclaimFiles(lab.deps, signal);
    expect(await storedPaths(lab.store, table)).toEqual([file.path]);
    expect(await lab.metric("lapse_files_reclaimed_total")).toMatch(/ 1$/m);
    // Its path is never used again, or a late delete could hit the new file.
    await putFile(lab.store, table, { path: old });
    await expect(
      lab.asPerson("ana").commitTable({
        ...tableById(table.tableId),
        operation: CommitOperation.APPEND,
        files: [{ path: old, byteSize: BigInt(old.length + 8), rowCount: 1n }],
      }),
    ).rejects.toMatchObject({ reason: "FILE_PATH_USED" });
  });

  test("stays while its table is dropped", async () => {
    const { table, old } = await replaced();
    await drop(table);
    await lab.timePasses(DAY_MS - 60_000);
    await lab.deps.pool.query(
      "update data_file set removed_at = removed_at - interval '1 day' where removed_at is not null",
    );
    await reclaimFiles(lab.deps, signal);
    expect(await storedPaths(lab.store, table)).toContain(old);
  });

  test("that cannot be deleted is left for the next round, and stops no other", async () => {
    const [bad, good] = [await replaced(), await replaced()];
    await lab.timePasses(DAY_MS);
    lab.store.interfere((verb, _, key) => {
      if (verb === "delete" && key.endsWith(bad.old))
        throw new ObjectStoreError("unavailable", "no");
    });
    await reclaimFiles(lab.deps, signal);
    expect(await storedPaths(lab.store, good.table)).toEqual([good.file.path]);
    expect(await storedPaths(lab.store, bad.table)).toContain(bad.old);
    lab.store.interfere();
    await reclaimFiles(lab.deps, signal);
    expect(await storedPaths(lab.store, bad.table)).toEqual([bad.file.path]);
  });
});
