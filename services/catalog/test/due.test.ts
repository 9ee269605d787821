import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createPool, newId, unavailable } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import { TableKind, TableState } from "@lapse/proto/events";
import { answerDue } from "../src/app/answer-due.ts";
import type { CatalogDeps } from "../src/app/deps.ts";
import type { DueEvent } from "../src/app/due-event.ts";
import { forgetOldAnswers } from "../src/app/remove-ended.ts";
import { dueNow } from "./lab/due.ts";
import { DAY_MS, type Lab, openLab } from "./lab/lab.ts";
import { A_RETENTION } from "./lab/peers.ts";
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
  lab = await openLab("catalog-due", 0);
  environment = await newEnvironment(lab);
});
afterEach(() => {
  lab.evaluator.answer((_, usual) => usual);
  lab.policy.fail(undefined);
});
afterAll(() => lab.close());

const answer = (...events: DueEvent[]) => answerDue(lab.deps, events);
const stateOf = async ({ tableId }: Pick<Table, "tableId">) => (await tableNow(lab, tableId)).state;
const lastDecision = async ({ tableId }: Pick<Table, "tableId">) =>
  (await lab.decisions(tableId)).at(-1);
const lastEvent = async ({ tableId }: Pick<Table, "tableId">) => (await lab.events(tableId)).at(-1);

describe("a due table", () => {
  test("T27 is dropped with its event and the decision of T32, and can be undone for a day though the setting is 0", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const event = await dueNow(lab, table);
    await answer(event);
    expect(await tableNow(lab, table.tableId)).toMatchObject({
      state: TableState.DROPPED,
      dropReason: "retention",
    });
    expect(await lastEvent(table)).toMatchObject({
      subject: "catalog.table.dropped",
      message: { reason: "retention", sweepId: event.due.sweepId, table: { changeVersion: "3" } },
    });
    const decision = present(await lastDecision(table));
    expect(decision).toMatchObject({
      type: "TABLE_DROPPED",
      outcome: "DECISION_OUTCOME_DONE",
      reason: "retention",
      runId: event.due.sweepId,
      resource: { kind: "table", id: table.tableId, name: `bronze.${table.name}`, environment },
      details: {
        retention: {
          source: "table",
          days: 3,
          set_by: "ana",
          last_activity_at: A_RETENTION.lastActivityAt.toISOString(),
          expired_at: A_RETENTION.expiredAt.toISOString(),
        },
      },
    });
    expect(decision).not.toHaveProperty("actor");
    await lab.timePasses(DAY_MS - 60_000);
    await expect(lab.asPerson("ana").undropTable(tableById(table.tableId))).resolves.toBeDefined();
    expect(await lab.metric("lapse_tables_dropped_total")).toMatch(/reason="retention".* 1/);
  });

  test("T32 is explained by its environment's rule and by a day, as the evaluator says", async () => {
    const table = await filledTable(lab, newPlace(environment));
    lab.evaluator.answer((_, usual) => ({
      ...usual,
      retention: { ...A_RETENTION, source: "environment", rule: { kind: "on", on: "2026-01-04" } },
    }));
    await answer(await dueNow(lab, table));
    const { details } = present(await lastDecision(table)) as { details: { retention: object } };
    expect(details.retention).toMatchObject({ source: "environment", on: "2026-01-04" });
    expect(details.retention).not.toHaveProperty("days");
  });

  test("is asked about once per batch, together with the others, and without the stale ones", async () => {
    const [a, b, c] = [
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
    ];
    const before = lab.evaluator.asked.length;
    await answer(
      await dueNow(lab, a),
      await dueNow(lab, b),
      await dueNow(lab, c, { issuedAt: new Date(0) }),
    );
    expect(lab.evaluator.asked.slice(before)).toEqual([[a.tableId, b.tableId]]);
  });
});

describe("a due table is kept, with one event and one decision that say why", () => {
  const kept: [string, (table: Table) => Promise<DueEvent>][] = [
    ["stale", (table) => dueNow(lab, table, { issuedAt: new Date(Date.now() - 120_000) })],
    ["stale", (table) => dueNow(lab, table, { issuedAt: new Date(Date.now() + 120_000) })],
    ["unknown_table", (table) => dueNow(lab, table, { tenant: "other" })],
    [
      "changed",
      async (table) => {
        const event = await dueNow(lab, table);
        await lab.asPerson("ana").updateTable({ ...tableById(table.tableId), description: "new" });
        lab.evaluator.answer((_, usual) => ({ ...usual, seen: { ...event.due } }));
        return event;
      },
    ],
    [
      "not_due",
      (table) => {
        lab.evaluator.answer((_, usual) => ({ ...usual, due: false }));
        return dueNow(lab, table);
      },
    ],
    [
      "unconfirmed",
      (table) => {
        lab.evaluator.answer(() => undefined);
        return dueNow(lab, table);
      },
    ],
    [
      "held",
      async (table) => {
        await lab.asPerson("ana").createHold(tableById(table.tableId));
        return dueNow(lab, table);
      },
    ],
    [
      "project_asset",
      async (table) => {
        await lab.deps.pool.query(
          "update catalog_table set project_asset = true where table_id = $1",
          [table.tableId],
        );
        return dueNow(lab, table);
      },
    ],
    [
      "already_dropped",
      async (table) => {
        await lab.asPerson("ana").dropTable(tableById(table.tableId));
        return dueNow(lab, table);
      },
    ],
    [
      "policy_changed",
      async (table) => {
        const event = await dueNow(lab, table);
        await lab.asPerson("ana").touchTable(tableById(table.tableId));
        return event;
      },
    ],
  ];

  test.each(kept)("%s", async (reason, prepare) => {
    const table = await filledTable(lab, newPlace(environment));
    const event = await prepare(table);
    const before = await tableNow(lab, table.tableId);
    await answer(event);
    expect(await tableNow(lab, table.tableId)).toEqual(before);
    expect(await lastEvent(table)).toMatchObject({
      subject: "catalog.table.kept",
      message: {
        tableId: table.tableId,
        tenant: event.due.tenant,
        sweepId: event.due.sweepId,
        reason,
      },
    });
    expect(await lastDecision(table)).toMatchObject({
      type: "TABLE_KEPT",
      outcome: "DECISION_OUTCOME_KEPT",
      reason,
      tenant: event.due.tenant,
      runId: event.due.sweepId,
    });
  });

  test("T21 held no longer once the hold has ended", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await lab.asPerson("ana").createHold(tableById(table.tableId));
    await answer(await dueNow(lab, table));
    expect(await stateOf(table)).toBe(TableState.LIVE);
    await lab.timePasses(lab.deps.holdTtlMs);
    await answer(await dueNow(lab, table));
    expect(await stateOf(table)).toBe(TableState.DROPPED);
  });

  test("T19 protected, and dropped after the protection is taken back", async () => {
    const name = await newEnvironment(lab);
    const table = await filledTable(lab, newPlace(name));
    const protect = (value: boolean) =>
      lab.asPerson("root", "admin").updateEnvironment({
        environment: { ref: { case: "name", value: name } },
        protected: value,
      });
    await protect(true);
    await answer(await dueNow(lab, table));
    expect(await lastDecision(table)).toMatchObject({ reason: "protected" });
    await protect(false);
    await answer(await dueNow(lab, table));
    expect(await stateOf(table)).toBe(TableState.DROPPED);
  });

  test.each([TableKind.VIEW, TableKind.EXTERNAL, TableKind.ARTIFACT])(
    "T22 not_managed, for kind %s",
    async (kind) => {
      const other = await liveTable(lab, newPlace(environment), kind);
      await answer(await dueNow(lab, other));
      expect(await lastDecision(other)).toMatchObject({ reason: "not_managed" });
      expect(await stateOf(other)).toBe(TableState.LIVE);
    },
  );

  test("unknown_table, for an id that is nobody's and for a staged one", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const tableId = newId();
    await answer(await dueNow(lab, { ...table, tableId }));
    expect(await lastDecision({ tableId })).toMatchObject({
      reason: "unknown_table",
      resource: { id: tableId },
    });
    const staged = await stagedTable(lab, newPlace(environment));
    await answer(await dueNow(lab, staged));
    expect(await lastDecision(staged)).toMatchObject({ reason: "unknown_table" });
  });

  test("without telling a tenant the name of another's table", async () => {
    const table = await filledTable(lab, newPlace(environment));
    await answer(await dueNow(lab, table, { tenant: "other" }));
    expect(present(await lastDecision(table)).resource).toEqual({
      kind: "table",
      id: table.tableId,
    });
  });
});

describe("settling", () => {
  test("asks retention-policy where the catalog is ahead in the table's version, with the catalog's version", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const event = await dueNow(lab, table);
    const touched = present((await lab.asPerson("ana").touchTable(tableById(table.tableId))).table);
    await answer(event);
    expect(lab.policy.tables).toContainEqual(
      expect.objectContaining({
        tableId: table.tableId,
        retentionVersion: touched.retentionVersion,
      }),
    );
    // Once settled, the evaluator knows the version and the table expires again.
    await answer(await dueNow(lab, touched));
    expect(await stateOf(table)).toBe(TableState.DROPPED);
  });

  test("asks once per environment of a batch", async () => {
    const name = await newEnvironment(lab);
    const events = [];
    for (let index = 0; index < 3; index++)
      events.push(await dueNow(lab, await filledTable(lab, newPlace(name))));
    const { environment: touched } = await lab
      .asPerson("root", "admin")
      .touchEnvironment({ environment: { ref: { case: "name", value: name } } });
    await answer(...events);
    const asked = lab.policy.environments.filter(
      ({ environmentId }) => environmentId === touched?.environmentId,
    );
    expect(asked).toHaveLength(1);
    expect(asked[0]?.policyVersion).toBe(touched?.policyVersion);
  });

  test("does not ask where the catalog is behind or only data changed", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const before = lab.policy.tables.length;
    await answer(await dueNow(lab, table, { retentionVersion: 99n }));
    expect(await lastDecision(table)).toMatchObject({ reason: "policy_changed" });
    await answer(await dueNow(lab, table, { changeVersion: 1n }));
    expect(lab.policy.tables).toHaveLength(before);
  });

  test("that fails is counted and asked again by the next sweep, and holds nothing up", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const event = await dueNow(lab, table);
    await lab.asPerson("ana").touchTable(tableById(table.tableId));
    lab.policy.fail(unavailable("PEER_UNREACHABLE", "it is away"));
    await answer(event);
    expect(await lab.metric("lapse_settle_failures_total")).toMatch(/ 1$/m);
    lab.policy.fail(undefined);
    await answer({ due: { ...event.due, sweepId: newId() } });
    expect(lab.policy.tables.map(({ tableId }) => tableId)).toContain(table.tableId);
  });
});

describe("a due event that comes again", () => {
  test("is answered once, whether it dropped or kept", async () => {
    const [dropped, kept] = [
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
    ];
    const events = [await dueNow(lab, dropped), await dueNow(lab, kept, { changeVersion: 1n })];
    await answer(...events);
    await answer(...events);
    await answer(...events, ...events);
    for (const table of [dropped, kept]) {
      expect(
        (await lab.decisions(table.tableId)).filter(({ type }) => type !== "TABLE_CREATED"),
      ).toHaveLength(1);
    }
  });

  test("is answered once when it is in a batch twice", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const event = await dueNow(lab, table);
    await answer(event, event, event);
    expect((await lab.decisions(table.tableId)).map(({ type }) => type)).toEqual([
      "TABLE_CREATED",
      "TABLE_DROPPED",
    ]);
  });

  test("of another sweep in the same batch gets an answer of its own", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const event = await dueNow(lab, table);
    await answer(event, { due: { ...event.due, sweepId: newId() } });
    expect((await lab.decisions(table.tableId)).slice(1)).toMatchObject([
      { type: "TABLE_DROPPED" },
      { type: "TABLE_KEPT", reason: "already_dropped" },
    ]);
  });

  test("is answered once by two replicas at the same time", async () => {
    const tables = [];
    for (let index = 0; index < 6; index++)
      tables.push(await filledTable(lab, newPlace(environment)));
    const events = await Promise.all(tables.map((table) => dueNow(lab, table)));
    const unknown = await dueNow(lab, { ...present(tables[0]), tableId: newId() });
    await Promise.all([
      answer(...events, unknown),
      answer(...events, unknown),
      answer(...events, unknown),
    ]);
    for (const { tableId } of tables) {
      expect((await lab.decisions(tableId)).map(({ type }) => type)).toEqual([
        "TABLE_CREATED",
        "TABLE_DROPPED",
      ]);
    }
    expect(await lab.decisions(unknown.due.tableId)).toHaveLength(1);
  });

  test("does not drop a table that was undropped meanwhile", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const event = await dueNow(lab, table);
    await answer(event);
    await lab.asPerson("ana").undropTable(tableById(table.tableId));
    await answer(event);
    expect(await stateOf(table)).toBe(TableState.LIVE);
    // Nor does another sweep that had not seen the undrop.
    await answer({ due: { ...event.due, sweepId: newId() } });
    expect(await stateOf(table)).toBe(TableState.LIVE);
  });

  test("is remembered longer than it can come again", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const event = await dueNow(lab, table);
    await answer(event);
    const remembered = async () => {
      await forgetOldAnswers(lab.deps, new AbortController().signal);
      const { rows } = await lab.deps.pool.query("select from due_answer where table_id = $1", [
        table.tableId,
      ]);
      return rows.length;
    };
    await lab.timePasses(6 * DAY_MS);
    expect(await remembered()).toBe(1);
    await lab.timePasses(2 * DAY_MS);
    expect(await remembered()).toBe(0);
  });

  test("never drops a re-created namesake", async () => {
    const place = newPlace(environment);
    const table = await filledTable(lab, place);
    const event = await dueNow(lab, table);
    await lab.asPerson("ana").dropTable(tableById(table.tableId));
    const namesake = await filledTable(lab, place);
    await answer(event);
    expect((await lab.asPerson("ana").getTable(tableByName(place))).table).toEqual(namesake);
  });
});

describe("while something is away", () => {
  test("nothing is decided without the evaluator, and all is when it is back", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const event = await dueNow(lab, table);
    const away: CatalogDeps = {
      ...lab.deps,
      evaluator: {
        async confirmTablesDue() {
          throw unavailable("EVALUATOR_BEHIND", "it has not read everything");
        },
      },
    };
    await expect(answerDue(away, [event])).rejects.toMatchObject({ kind: "unavailable" });
    expect(await stateOf(table)).toBe(TableState.LIVE);
    expect(await lastDecision(table)).toMatchObject({ type: "TABLE_CREATED" });
    await answer(event);
    expect(await stateOf(table)).toBe(TableState.DROPPED);
  });

  test("a stale event is answered though the evaluator is away", async () => {
    const table = await filledTable(lab, newPlace(environment));
    const away: CatalogDeps = {
      ...lab.deps,
      evaluator: { confirmTablesDue: () => Promise.reject(unavailable("X", "away")) },
    };
    await answerDue(away, [await dueNow(lab, table, { issuedAt: new Date(0) })]);
    expect(await lastDecision(table)).toMatchObject({ reason: "stale" });
  });

  test("one table that fails is recorded as failed and stops no other", async () => {
    const [bad, good] = [
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
    ];
    const events = [await dueNow(lab, bad), await dueNow(lab, good)];
    await lab.deps.pool.query(
      `create function refuse_drop() returns trigger language plpgsql as $$
       begin raise exception 'this row is broken'; end $$`,
    );
    await lab.deps.pool.query(
      `create trigger broken before update on catalog_table for each row
       when (new.table_id = '${bad.tableId}') execute function refuse_drop()`,
    );
    await answer(...events);
    expect(await stateOf(good)).toBe(TableState.DROPPED);
    expect(await stateOf(bad)).toBe(TableState.LIVE);
    expect(await lastDecision(bad)).toMatchObject({
      type: "TABLE_KEPT",
      outcome: "DECISION_OUTCOME_FAILED",
      reason: "failed",
    });
    expect(await lastEvent(bad)).toMatchObject({ message: { reason: "failed" } });
    await lab.deps.pool.query("drop trigger broken on catalog_table; drop function refuse_drop");
    await answer({ due: { ...present(events[0]).due, sweepId: newId() } });
    expect(await stateOf(bad)).toBe(TableState.DROPPED);
  });

  test("a table whose row cannot be had now is left for a later delivery, the others are answered", async () => {
    const [locked, free] = [
      await filledTable(lab, newPlace(environment)),
      await filledTable(lab, newPlace(environment)),
    ];
    const events = [await dueNow(lab, locked), await dueNow(lab, free)];
    const client = await lab.deps.pool.connect();
    await client.query("begin");
    await client.query("select from catalog_table where table_id = $1 for update", [
      locked.tableId,
    ]);
    const pool = createPool({
      url: lab.url,
      applicationName: "impatient",
      statementTimeoutMs: 500,
      log: lab.deps.log,
    });
    await expect(answerDue({ ...lab.deps, pool }, events)).rejects.toMatchObject({
      kind: "unavailable",
    });
    await pool.end();
    await client.query("rollback");
    client.release();
    expect(await stateOf(free)).toBe(TableState.DROPPED);
    expect(await stateOf(locked)).toBe(TableState.LIVE);
    await answer(...events);
    expect(await stateOf(locked)).toBe(TableState.DROPPED);
    expect(
      (await lab.decisions(free.tableId)).filter(({ type }) => type === "TABLE_DROPPED"),
    ).toHaveLength(1);
  });
});
