import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId, withTransaction } from "@lapse/kit";
import fc from "fast-check";
import { foldActivity } from "../src/app/fold-activity.ts";
import { type CatalogChange, foldCatalog } from "../src/app/fold-catalog.ts";
import { foldPolicy, type PolicyChange } from "../src/app/fold-policy.ts";
import type { ActivityMessage } from "../src/domain/activity-message.ts";
import { tableExpiry } from "../src/domain/table-expiry.ts";
import { loadTableFacts } from "../src/store/table-facts.ts";
import { someEnvironment, someTable, tableChange } from "./lab/changes.ts";
import { type LabDatabase, labDatabase } from "./lab/database.ts";

let db: LabDatabase;
beforeAll(async () => {
  db = await labDatabase("fold order");
});
afterAll(() => db.close());
beforeEach(() => db.clear());

const noWait = async () => undefined;
const START = Date.parse("2026-03-01T00:00:00.000Z");
const HOUR = 3_600_000;

type Step =
  | { readonly stream: "ACTIVITY"; readonly message: ActivityMessage }
  | { readonly stream: "CATALOG"; readonly change: CatalogChange }
  | { readonly stream: "POLICY"; readonly change: PolicyChange };

/** What happens to two tables of one environment, in the order in which it happens. */
const history = fc
  .array(
    fc.record({
      table: fc.nat({ max: 1 }),
      what: fc.constantFrom(
        "read",
        "written",
        "touched",
        "restored",
        "rule",
        "environment",
        "protect",
      ),
      days: fc.integer({ min: 1, max: 9 }),
      source: fc.constantFrom("trino", "spark"),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map((events) => stepsOf(events));

function stepsOf(
  events: readonly { table: number; what: string; days: number; source: string }[],
): { readonly ids: readonly string[]; readonly steps: readonly Step[] } {
  const environmentId = newId();
  const tables = [0, 1].map(() => someTable({ environmentId, createdAt: new Date(START) }));
  let environment = someEnvironment({ environmentId });
  const steps: Step[] = [
    { stream: "CATALOG", change: { environment } },
    ...tables.map((table): Step => ({ stream: "CATALOG", change: tableChange(table) })),
  ];
  events.forEach(({ table: index, what, days, source }, nth) => {
    const at = START + (nth + 1) * HOUR;
    const table = tables[index] ?? someTable();
    const version = BigInt(nth + 2);
    const changed = (next: typeof table) => {
      tables[index] = next;
      steps.push({ stream: "CATALOG", change: tableChange(next) });
    };
    const set = { setBy: "ana", setAt: new Date(at) };
    switch (what) {
      case "read":
      case "written":
        steps.push({
          stream: "ACTIVITY",
          message: {
            kind: what,
            storedAt: at,
            sender: "",
            activities: [{ tableId: table.tableId, table: null, occurredAt: at, source }],
          },
        });
        break;
      case "touched":
        changed({ ...table, version, lastChangedAt: new Date(at) });
        break;
      case "restored":
        changed({ ...table, version, lastChangedAt: new Date(at), restoredAt: new Date(at) });
        break;
      case "rule":
        steps.push({
          stream: "POLICY",
          change: {
            table: {
              tableId: table.tableId,
              rule: { kind: "days", days, ...set },
              version,
              sequence: version,
            },
          },
        });
        break;
      case "environment":
        steps.push({
          stream: "POLICY",
          change: { environment: { environmentId, rule: { days, ...set }, version } },
        });
        break;
      default:
        environment = { ...environment, protected: days % 2 === 0, version };
        steps.push({ stream: "CATALOG", change: { environment } });
    }
  });
  return { ids: tables.map(({ tableId }) => tableId), steps };
}

/** Folds steps in batches, each batch in a transaction of its own, as the three folds do. */
async function fold(steps: readonly Step[], batch: number): Promise<void> {
  for (let from = 0; from < steps.length; from += batch) {
    const some = steps.slice(from, from + batch);
    await withTransaction(db.pool, async (tx) => {
      await foldActivity(
        tx,
        some.flatMap((step) => (step.stream === "ACTIVITY" ? step.message : [])),
        noWait,
      );
      await foldCatalog(
        tx,
        some.flatMap((step) => (step.stream === "CATALOG" ? step.change : [])),
      );
      await foldPolicy(
        tx,
        some.flatMap((step) => (step.stream === "POLICY" ? step.change : [])),
      );
    });
  }
}

async function stateOf(ids: readonly string[]) {
  const facts = await loadTableFacts(db.pool, ids);
  const sources = await db.pool.query(
    `select table_id, source, last_reported_at from table_read_source order by table_id, source`,
  );
  const due = await db.pool.query(
    `select table_id, own_due_at, expires_by, last_read_at from table_state order by table_id`,
  );
  const byId = [...facts].sort((a, b) => (a.tableId < b.tableId ? -1 : 1));
  return { facts: byId, expiries: byId.map(tableExpiry), sources: sources.rows, due: due.rows };
}

const readsOf = async () => {
  const { rows } = await db.pool.query<{ reads: bigint }>(
    `select coalesce(sum(reads), 0)::bigint as reads from table_read_day`,
  );
  return rows[0]?.reads;
};

describe("folding", () => {
  test("T14 comes to the same whatever the order of the messages, the size of the batches and how often each comes", async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.integer({ min: 1, max: 6 }),
        fc.infiniteStream(fc.nat({ max: 1_000 })),
        async ({ ids, steps }, batch, dice) => {
          await db.clear();
          await fold(steps, 1);
          const expected = await stateOf(ids);

          await db.clear();
          const twice = [...steps, ...steps.filter((_, index) => index % 2 === 0)];
          const shuffled = twice
            .map((step) => ({ step, weight: dice.next().value ?? 0 }))
            .sort((a, b) => a.weight - b.weight)
            .map(({ step }) => step);
          await fold(shuffled, batch);
          expect(await stateOf(ids)).toEqual(expected);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("T17 every message counts its reads once, so only the position keeps a repeat from counting again", async () => {
    const { tableId } = someTable();
    const message: ActivityMessage = {
      kind: "read",
      storedAt: START,
      sender: "",
      activities: [1, 2, 3].map((nth) => ({
        tableId,
        table: null,
        occurredAt: START + nth,
        source: "trino",
      })),
    };
    await fold([{ stream: "ACTIVITY", message }], 1);
    expect(await readsOf()).toBe(3n);
    await fold([{ stream: "ACTIVITY", message }], 1);
    expect(await readsOf()).toBe(6n);
  });

  test("T14 activity that comes before the table is known is kept, and counts once it is", async () => {
    const environment = someEnvironment();
    const table = someTable({
      environmentId: environment.environmentId,
      createdAt: new Date(START),
    });
    const readAt = START + 50 * HOUR;
    await fold(
      [
        {
          stream: "ACTIVITY",
          message: {
            kind: "read",
            storedAt: readAt,
            sender: "",
            activities: [{ tableId: table.tableId, table: null, occurredAt: readAt, source: "" }],
          },
        },
      ],
      1,
    );
    const [before] = await loadTableFacts(db.pool, [table.tableId]);
    expect(before).toMatchObject({ state: "unknown", lastActivityAt: new Date(readAt) });

    await fold(
      [
        { stream: "CATALOG", change: { environment } },
        { stream: "CATALOG", change: tableChange(table) },
      ],
      2,
    );
    const [after] = await loadTableFacts(db.pool, [table.tableId]);
    expect(after).toMatchObject({
      state: "live",
      lastActivityAt: new Date(readAt),
      lastActivityKind: "read",
    });
  });

  test("a rule that comes before the table is known is kept, and an unknown table never expires", async () => {
    const table = someTable({ createdAt: new Date(START) });
    const rule = { kind: "days" as const, days: 1, setBy: "ana", setAt: new Date(START) };
    await fold(
      [
        {
          stream: "POLICY",
          change: { table: { tableId: table.tableId, rule, version: 3n, sequence: 1n } },
        },
      ],
      1,
    );
    const [before] = await loadTableFacts(db.pool, [table.tableId]);
    expect(before && tableExpiry(before).expiresAt).toBeNull();

    const environment = someEnvironment({ environmentId: table.environmentId });
    await fold([{ stream: "CATALOG", change: { environment, ...tableChange(table) } }], 1);
    const [after] = await loadTableFacts(db.pool, [table.tableId]);
    expect(after && tableExpiry(after).expiresAt).toEqual(new Date(START + 24 * HOUR));
  });

  test("T28 a rule settled for a version and removed by the restore that gave it is removed, in whatever order that comes", async () => {
    const environment = someEnvironment();
    const tables = [someTable(environment), someTable({ ...environment, name: "other" })];
    await fold(
      [
        { stream: "CATALOG", change: { environment } },
        ...tables.map((table): Step => ({ stream: "CATALOG", change: tableChange(table) })),
      ],
      10,
    );
    const on = "2026-01-01";
    const rule = { kind: "on" as const, on, setBy: "ana", setAt: new Date(START) };
    const about = (index: number) => ({ tableId: tables[index]?.tableId ?? "", version: 7n });
    const settled = (index: number): Step => ({
      stream: "POLICY",
      change: { table: { ...about(index), rule, sequence: 20n } },
    });
    const cleared = (index: number): Step => ({
      stream: "POLICY",
      change: { table: { ...about(index), rule: null, sequence: 21n } },
    });
    await fold([settled(0), cleared(0), cleared(1), settled(1)], 1);
    const facts = await loadTableFacts(
      db.pool,
      tables.map(({ tableId }) => tableId),
    );
    expect(facts.map(({ tableRule }) => tableRule)).toEqual([null, null]);
  });

  test("a purged table loses its history, and what arrives late does not bring it back", async () => {
    const environment = someEnvironment();
    const table = someTable({ environmentId: environment.environmentId });
    const read: Step = {
      stream: "ACTIVITY",
      message: {
        kind: "read",
        storedAt: START,
        sender: "",
        activities: [{ tableId: table.tableId, table: null, occurredAt: START, source: "" }],
      },
    };
    const created: Step = { stream: "CATALOG", change: { environment, ...tableChange(table) } };
    await fold([created, read], 1);
    expect(await readsOf()).toBe(1n);
    await fold(
      [{ stream: "CATALOG", change: tableChange({ ...table, state: "purged", version: 9n }) }],
      1,
    );
    expect(await readsOf()).toBe(0n);

    await fold([created, read], 1);
    const [facts] = await loadTableFacts(db.pool, [table.tableId]);
    expect(facts?.state).toBe("purged");
  });

  test("T14 a time more than five minutes ahead counts as now, and is counted; one less far ahead stays", async () => {
    const { tableId } = someTable();
    const { rows } = await db.pool.query<{ now: Date }>(`select now()::timestamptz(3) as now`);
    const now = rows[0]?.now.getTime() ?? 0;
    const report = (ahead: number) => ({
      tableId,
      table: null,
      occurredAt: now + ahead,
      source: "",
    });
    const foldOne = (ahead: number) =>
      withTransaction(db.pool, (tx) =>
        foldActivity(
          tx,
          [{ kind: "read", storedAt: now, sender: "", activities: [report(ahead)] }],
          noWait,
        ),
      );
    expect((await foldOne(365 * 24 * HOUR)).clamped).toBe(1);
    const [clamped] = await loadTableFacts(db.pool, [tableId]);
    expect(Math.abs((clamped?.lastActivityAt?.getTime() ?? 0) - now)).toBeLessThan(60_000);

    expect((await foldOne(4 * 60_000)).clamped).toBe(0);
    const [ahead] = await loadTableFacts(db.pool, [tableId]);
    expect(ahead?.lastActivityAt).toEqual(new Date(now + 4 * 60_000));
  });
});
