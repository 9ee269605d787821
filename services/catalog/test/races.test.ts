import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Table } from "@lapse/proto/catalog";
import { TableState } from "@lapse/proto/events";
import { answerDue } from "../src/app/answer-due.ts";
import { beginDuePurges } from "../src/app/begin-purges.ts";
import { commitTable } from "../src/app/commit-table.ts";
import { createHold } from "../src/app/create-hold.ts";
import { dropTable } from "../src/app/drop-table.ts";
import { protectEnvironment } from "../src/app/protect-environment.ts";
import { touchEnvironment } from "../src/app/touch-environment.ts";
import { touchTable } from "../src/app/touch-table.ts";
import { undropTable } from "../src/app/undrop-table.ts";
import { updateTable } from "../src/app/update-table.ts";
import { dueNow } from "./lab/due.ts";
import { gate, gatedCall, untilBlocked } from "./lab/gate.ts";
import { aName, type Lab, openLab } from "./lab/lab.ts";
import {
  filledTable,
  newEnvironment,
  newPlace,
  present,
  tableById,
  tableNow,
} from "./lab/tables.ts";

let lab: Lab;
let environment: string;
const { signal } = new AbortController();
beforeAll(async () => {
  lab = await openLab("catalog-races");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const stateOf = async ({ tableId }: Pick<Table, "tableId">) => (await tableNow(lab, tableId)).state;
const reasonOf = async ({ tableId }: Pick<Table, "tableId">) =>
  (await lab.decisions(tableId)).at(-1)?.reason;
const ref = ({ tableId }: Pick<Table, "tableId">) => ({ kind: "id", tableId }) as const;

/** Everything that keeps a table, as a use case whose transaction stays open until the gate opens. */
const keepers: Record<
  string,
  (table: Table, gates: Parameters<typeof gatedCall>[0]) => Promise<unknown>
> = {
  "T5 a touch": (table, gates) => touchTable(lab.deps, gatedCall(gates), ref(table)),
  "a write's commit": (table, gates) =>
    commitTable(lab.deps, gatedCall(gates), {
      table: ref(table),
      operation: "append",
      files: [],
      expectedChangeVersion: undefined,
      columns: undefined,
      holdId: undefined,
    }),
  "a rename": (table, gates) =>
    updateTable(lab.deps, gatedCall(gates), { table: ref(table), name: aName() }),
  "T21 a hold": (table, gates) =>
    createHold(lab.deps, gatedCall(gates), { table: ref(table), kind: "write" }),
};

describe("a due event whose transaction meets", () => {
  test.each(Object.keys(keepers))("%s under way: it waits, and keeps the table", async (name) => {
    const table = await filledTable(lab, newPlace(environment));
    const due = await dueNow(lab, table);
    const [begun, after] = [gate(), gate()];
    const keeping = keepers[name]?.(table, { begun, after });
    await begun.passed;
    const answered = answerDue(lab.deps, [due]);
    await untilBlocked(lab);
    after.open();
    await Promise.all([keeping, answered]);
    expect(await stateOf(table)).toBe(TableState.LIVE);
    expect(["policy_changed", "changed", "held"]).toContain(await reasonOf(table));
  });

  test.each(Object.keys(keepers))("%s that comes while it drops: that is refused", async (name) => {
    const table = await filledTable(lab, newPlace(environment));
    const due = await dueNow(lab, table);
    // Whoever holds the environment's row stops the drop after it has locked the table's.
    const client = await lab.deps.pool.connect();
    await client.query("begin");
    await client.query("select from environment where environment_id = $1 for update", [
      table.environmentId,
    ]);
    const answered = answerDue(lab.deps, [due]);
    await untilBlocked(lab);
    const keeping = keepers[name]?.(table, {});
    const refused = expect(keeping).rejects.toMatchObject({
      kind: "precondition",
      reason: "TABLE_DROPPED",
    });
    await untilBlocked(lab, 2);
    await client.query("commit");
    client.release();
    await Promise.all([answered, refused]);
    expect(await stateOf(table)).toBe(TableState.DROPPED);
    const { rows } = await lab.deps.pool.query("select from write_hold where table_id = $1", [
      table.tableId,
    ]);
    expect(rows).toHaveLength(0);
  });

  const guards = {
    "T19 a protection": (environmentId: string, gates: Parameters<typeof gatedCall>[0]) =>
      protectEnvironment(lab.deps, gatedCall(gates), {
        environment: { kind: "id", environmentId },
        protected: true,
      }),
    "T7 a touch of the environment": (
      environmentId: string,
      gates: Parameters<typeof gatedCall>[0],
    ) => touchEnvironment(lab.deps, gatedCall(gates), { kind: "id", environmentId }),
  };

  test.each(Object.entries(guards))(
    "%s under way: it waits, and keeps the table",
    async (_, guard) => {
      const table = await filledTable(lab, newPlace(await newEnvironment(lab)));
      const due = await dueNow(lab, table);
      const [begun, after] = [gate(), gate()];
      const guarding = guard(table.environmentId, { begun, after });
      await begun.passed;
      const answered = answerDue(lab.deps, [due]);
      await untilBlocked(lab);
      after.open();
      await Promise.all([guarding, answered]);
      expect(await stateOf(table)).toBe(TableState.LIVE);
      expect(["protected", "policy_changed"]).toContain(await reasonOf(table));
    },
  );

  test.each(Object.entries(guards))(
    "%s that comes while it drops: that waits for the drop",
    async (_, guard) => {
      const table = await filledTable(lab, newPlace(await newEnvironment(lab)));
      const due = await dueNow(lab, table);
      // Whoever has locked the answer's key stops the drop after it has locked both rows.
      const client = await lab.deps.pool.connect();
      await client.query("begin");
      await client.query("insert into due_answer values ($1, $2, 'x', now())", [
        due.due.sweepId,
        table.tableId,
      ]);
      const answered = answerDue(lab.deps, [due]);
      await untilBlocked(lab);
      const guarding = guard(table.environmentId, {});
      await untilBlocked(lab, 2);
      await client.query("rollback");
      client.release();
      await Promise.all([answered, guarding]);
      expect(await stateOf(table)).toBe(TableState.DROPPED);
    },
  );
});

describe("T21 a renewal that began before its hold ended", () => {
  test("is refused when the table was dropped before it got to the row", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const { hold } = await lab.asPerson("ana").createHold(tableById(table.tableId));
    const { holdId } = present(hold);
    const client = await lab.deps.pool.connect();
    await client.query("begin");
    await client.query("select from catalog_table where table_id = $1 for update", [table.tableId]);
    const renewing = expect(lab.asPerson("ana").renewHold({ holdId })).rejects.toMatchObject({
      reason: "TABLE_DROPPED",
    });
    await untilBlocked(lab);
    await client.query(
      "update catalog_table set state = 'dropped', dropped_at = now(), drop_reason = 'retention', undo_until = now() where table_id = $1",
      [table.tableId],
    );
    await client.query("commit");
    client.release();
    await renewing;
  });
});

describe("T30 an undrop and a purge", () => {
  const undrop = (table: Table, gates: Parameters<typeof gatedCall>[0]) =>
    undropTable(lab.deps, gatedCall(gates), { table: ref(table), asName: undefined });

  async function droppedFor(ms: number) {
    const table = await filledTable(lab, newPlace(environment));
    await lab.asPerson("ana").dropTable(tableById(table.tableId));
    await lab.deps.pool.query(
      "update catalog_table set undo_until = now() + make_interval(secs => $2 / 1000.0) where table_id = $1",
      [table.tableId, ms],
    );
    return table;
  }

  /** Until the undo period of the table is over. */
  const untilOver = (table: Table) =>
    lab.deps.pool.query(
      "select pg_sleep(extract(epoch from greatest(undo_until - clock_timestamp(), '0') + interval '5 ms')) from catalog_table where table_id = $1",
      [table.tableId],
    );

  test("that began in time, but locks the row second, is refused: the purge goes on", async () => {
    const table = await droppedFor(300);
    const [begun, before] = [gate(), gate()];
    const undropping = undrop(table, { begun, before });
    await begun.passed;
    await untilOver(table);
    await beginDuePurges(lab.deps, signal);
    before.open();
    await expect(undropping).rejects.toMatchObject({ reason: "TABLE_PURGING" });
    expect(await stateOf(table)).toBe(TableState.PURGING);
  });

  test("that began in time and locks the row first wins: the purge finds a live table", async () => {
    const table = await droppedFor(300);
    const [begun, after] = [gate(), gate()];
    const undropping = undrop(table, { begun, after });
    await begun.passed;
    await untilOver(table);
    const purging = beginDuePurges(lab.deps, signal);
    await untilBlocked(lab);
    after.open();
    await Promise.all([undropping, purging]);
    expect(await stateOf(table)).toBe(TableState.LIVE);
    const { rows } = await lab.deps.pool.query("select from table_purge where table_id = $1", [
      table.tableId,
    ]);
    expect(rows).toHaveLength(0);
  });

  test("racing freely end in exactly one of the two, every time", async () => {
    const tables = await Promise.all(
      // Some are over by the time they are raced for, some are not.
      Array.from({ length: 30 }, (_, index) => droppedFor(index * 10)),
    );
    await Promise.allSettled(
      tables.flatMap((table) => [undrop(table, {}), beginDuePurges(lab.deps, signal)]),
    );
    await untilOver(present(tables.at(-1)));
    await beginDuePurges(lab.deps, signal);
    for (const table of tables) {
      const state = await stateOf(table);
      const { rows } = await lab.deps.pool.query("select from table_purge where table_id = $1", [
        table.tableId,
      ]);
      const restored = (await lab.decisions(table.tableId)).filter(
        ({ type }) => type === "TABLE_RESTORED",
      );
      expect([state, rows.length, restored.length]).toEqual(
        state === TableState.LIVE ? [TableState.LIVE, 0, 1] : [TableState.PURGING, 1, 0],
      );
    }
  });
});

describe("an undrop by name", () => {
  test("T28 that meets the drop of a younger generation does not bring back the older one", async () => {
    const place = newPlace(environment);
    const older = await filledTable(lab, place);
    await lab.asPerson("ana").dropTable(tableById(older.tableId));
    const younger = await filledTable(lab, place);
    const [begun, after] = [gate(), gate()];
    const dropping = dropTable(lab.deps, gatedCall({ begun, after }), ref(younger));
    await begun.passed;
    const undropping = undropTable(lab.deps, gatedCall({}), {
      table: { kind: "name", ...place },
      asName: undefined,
    });
    const refused = expect(undropping).rejects.toMatchObject({ reason: "TABLE_CHANGED" });
    await untilBlocked(lab);
    after.open();
    await Promise.all([dropping, refused]);
    expect(await stateOf(older)).toBe(TableState.DROPPED);
    expect(await stateOf(younger)).toBe(TableState.DROPPED);
  });
});
