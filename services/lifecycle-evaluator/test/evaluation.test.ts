import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, jest, test } from "@jest/globals";
import { newId, SUBJECTS } from "@lapse/kit";
import {
  EnvironmentDeletedSchema,
  TableChange,
  TableRestoredSchema,
  TableState,
} from "@lapse/proto/events";
import { waitFor } from "@lapse/test-kit";
import { settledExpiry } from "./lab/evaluator.ts";
import { daysAgo } from "./lab/publishers.ts";
import { System } from "./lab/system.ts";

jest.setTimeout(60_000);
const system = new System("evaluation");

const expiryOf = async (tableId: string) => {
  const answer = await settledExpiry(system.evaluator, tableId);
  const { expiresAt, lastActivityKind = "", source = "" } = answer.expiry ?? {};
  return { expiresAt: expiresAt && timestampDate(expiresAt), lastActivityKind, source };
};
const readsOf = (tableId: string) => system.evaluator.client.getTableReads({ tableId });
const publishReads = (tableIds: readonly string[], source = "trino") => {
  const events = tableIds.map((tableId) => ({ tableId, source }));
  const body = Buffer.from(JSON.stringify({ events }));
  return system.publishers.nats.publish("activity.table.read", body, {}, { msgId: newId() });
};
/** Within a minute of so many days from now. */
const inDays = (days: number) => ({
  from: daysAgo(-days).getTime() - 60_000,
  to: daysAgo(-days).getTime() + 60_000,
});
const expectIn = (at: Date | undefined, days: number) => {
  const { from, to } = inDays(days);
  expect(at?.getTime()).toBeGreaterThan(from);
  expect(at?.getTime()).toBeLessThan(to);
};

/** An environment of thirty days, and a table in it that was last changed so many days ago. */
async function oneTable(days: number) {
  const { environmentId } = await system.publishers.environment();
  await system.publishers.environmentRule(environmentId, 30);
  const at = timestampFromDate(daysAgo(days));
  return system.publishers.table({ environmentId, createdAt: at, lastChangedAt: at });
}

describe("what counts as activity", () => {
  test("T13 every write moves the expiry on, not only the first", async () => {
    await system.start();
    const table = await oneTable(29);
    for (const [version, days] of [
      [2n, 20],
      [3n, 10],
      [4n, 0],
    ] as const) {
      const lastChangedAt = timestampFromDate(daysAgo(days));
      await system.publishers.changed({ ...table, changeVersion: version, lastChangedAt });
      const { expiresAt, lastActivityKind } = await expiryOf(table.tableId);
      expectIn(expiresAt, 30 - days);
      expect(lastActivityKind).toBe("written");
    }
  });

  test("T13 maintenance counts, and is told apart from a write", async () => {
    await system.start();
    const table = await oneTable(29);
    const lastChangedAt = timestampFromDate(daysAgo(3));
    const change = { ...table, changeVersion: 2n, lastChangedAt };
    await system.publishers.changed(change, TableChange.MAINTAINED);
    const { expiresAt, lastActivityKind } = await expiryOf(table.tableId);
    expectIn(expiresAt, 27);
    expect(lastActivityKind).toBe("maintained");
  });

  test("T20 what Lapse does to a table by itself is no activity: neither its state nor a deployment", async () => {
    await system.start();
    const table = await oneTable(20);
    const before = await expiryOf(table.tableId);
    const flips = [
      [2n, { projectAsset: true }, TableChange.ASSET],
      [3n, { projectAsset: false }, TableChange.ASSET],
      [4n, {}, TableChange.STATE],
    ] as const;
    for (const [changeVersion, flip, change] of flips)
      await system.publishers.changed({ ...table, changeVersion, ...flip }, change);
    expect(await expiryOf(table.tableId)).toEqual(before);
  });

  test("T18 T13 a table nobody has reported reads of expires by its last change, and its reads show that no source covers it", async () => {
    await system.start();
    const silent = await oneTable(10);
    const { expiresAt } = await expiryOf(silent.tableId);
    expectIn(expiresAt, 20);
    expect(await readsOf(silent.tableId)).toMatchObject({ days: [], sources: [] });
    expect(await system.sweep()).toMatchObject({ due: 0 });
  });

  test("T18 the sources that have reported reads are shown with when each last did", async () => {
    await system.start();
    const { tableId } = await oneTable(10);
    await publishReads([tableId], "trino");
    await publishReads([tableId, tableId], "spark");
    await expiryOf(tableId);
    const { sources, days } = await readsOf(tableId);
    expect(sources.map(({ source }) => source).sort()).toEqual(["spark", "trino"]);
    for (const { lastReportedAt } of sources) {
      const at = lastReportedAt && timestampDate(lastReportedAt).getTime();
      expect(Math.abs((at ?? 0) - Date.now())).toBeLessThan(60_000);
    }
    const reads = Object.fromEntries(days.map(({ source, reads: count }) => [source, count]));
    expect(reads).toEqual({ trino: 1n, spark: 2n });
  });

  test("T13 T17 ten thousand reads of a table are one row a day and source", async () => {
    await system.start();
    const { tableId } = await oneTable(10);
    await publishReads(Array<string>(10_000).fill(tableId));
    await expiryOf(tableId);
    const { rows } = await system.pool.query(
      `select count(*)::integer as rows from table_read_day`,
    );
    expect(rows).toEqual([{ rows: 1 }]);
    expect((await readsOf(tableId)).days).toMatchObject([{ reads: 10_000n }]);
  });
});

describe("what a sweep picks", () => {
  test("T20 no asset of a project is due, however long unused; one that no project has any more is", async () => {
    await system.start();
    const table = await oneTable(300);
    const asset = { ...table, changeVersion: 2n, projectAsset: true };
    await system.publishers.changed(asset, TableChange.ASSET);
    expect(await system.sweep()).toMatchObject({ due: 0 });
    const undeployed = { ...table, changeVersion: 3n, projectAsset: false };
    await system.publishers.changed(undeployed, TableChange.ASSET);
    expect(await system.sweep()).toMatchObject({ due: 1 });
  });

  test("T31 nothing of an environment that was deleted is due, nor confirmed as due", async () => {
    await system.start();
    const table = await oneTable(300);
    const { tableId, environmentId = "" } = table;
    const confirm = async () => {
      const answer = await system.evaluator.client.confirmTablesDue({ tableIds: [tableId] });
      return answer.confirmations.map(({ due }) => due);
    };
    expect(await confirm()).toEqual([true]);
    await system.publishers.say(
      "CATALOG",
      SUBJECTS.catalog.environment.deleted,
      EnvironmentDeletedSchema,
      { environment: { environmentId, tenant: "local", name: "dev", changeVersion: 2n } },
    );
    expect(await confirm()).toEqual([false]);
    expect(await system.sweep()).toMatchObject({ due: 0 });
  });

  test("T28 a restored table has its whole period again, and its day that had passed counts no more", async () => {
    await system.start();
    const table = await oneTable(300);
    const byDay = await system.publishers.table({
      environmentId: table.environmentId ?? "",
      name: "by_day",
    });
    const on = { case: "on", value: daysAgo(5).toISOString().slice(0, 10) } as const;
    await system.publishers.tableRule(byDay.tableId, on);
    expect(await system.sweep()).toMatchObject({ due: 2, dropped: 2 });
    const restoredAt = timestampFromDate(new Date());
    for (const dropped of [table, byDay])
      await system.publishers.say("CATALOG", SUBJECTS.catalog.table.restored, TableRestoredSchema, {
        table: { ...dropped, state: TableState.LIVE, changeVersion: 3n, restoredAt },
      });
    expect(await system.sweep()).toMatchObject({ due: 0 });
    for (const { tableId } of [table, byDay]) {
      const { expiresAt, source, lastActivityKind } = await expiryOf(tableId);
      expectIn(expiresAt, 30);
      expect({ source, lastActivityKind }).toEqual({
        source: "environment",
        lastActivityKind: "restored",
      });
    }
  });

  test("T24 more tables than are issued at once are all issued, each once and in order", async () => {
    await system.start({
      LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: "5000",
      LAPSE_TABLES__MAX_EXPIRY_SHARE: "1",
    });
    const { environmentId } = await system.publishers.environment();
    await system.publishers.environmentRule(environmentId, 30);
    const all = await system.tables(environmentId, 620);
    // However long a busy machine takes over the answers.
    expect(await system.sweep()).toMatchObject({ due: 620, capped: false });
    await waitFor(() => system.issued().length >= 620);
    expect(system.issued()).toEqual(all);
  });

  test("T24 a table that the catalog cannot drop stops none of the others", async () => {
    await system.start();
    const { environmentId } = await system.publishers.environment();
    await system.publishers.environmentRule(environmentId, 30);
    const [first, ...rest] = await system.tables(environmentId, 6);
    system.verdict = (tableId) => (tableId === first ? "failed" : null);
    expect(await system.sweep()).toMatchObject({ due: 6, dropped: rest.length, failed: 1 });
  });
});
