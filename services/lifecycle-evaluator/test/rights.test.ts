import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from "@jest/globals";
import { type CallOptions, newId } from "@lapse/kit";
import { type TestNats, testNats, testTokens } from "@lapse/test-kit";
import { type CatalogServer, serveCatalog } from "./lab/catalog-server.ts";
import { type LabDatabase, labDatabase } from "./lab/database.ts";
import { decisionsOf } from "./lab/decisions.ts";
import { as, type Evaluator, settledExpiry, startTestEvaluator } from "./lab/evaluator.ts";
import { daysAgo, Publishers, type TableInit } from "./lab/publishers.ts";

let db: LabDatabase;
let broker: TestNats;
let catalog: CatalogServer;
let evaluator: Evaluator;
let publishers: Publishers;
const tokens = testTokens();
jest.setTimeout(60_000);

beforeAll(async () => {
  db = await labDatabase("rights");
  broker = await testNats();
  publishers = await Publishers.connect(broker.url);
  catalog = await serveCatalog(tokens);
  const urls = { databaseUrl: db.url, natsUrl: broker.url };
  evaluator = await startTestEvaluator({ ...urls, tokens, env: catalog.env });
});
afterAll(async () => {
  await evaluator.stop();
  await catalog.stop();
  await publishers.close();
  await broker.close();
  await db.close();
});
afterEach(() => db.pool.query(`delete from lapse_kit.outbox where stream = 'DECISION'`));

let environmentId: string;
beforeEach(async () => {
  ({ environmentId } = await publishers.environment({ name: `env-${newId()}` }));
  await publishers.environmentRule(environmentId, 30);
  catalog.opened.clear();
  catalog.readers.clear();
  catalog.tenantRights.clear();
  catalog.calls.length = 0;
});

/** Somebody of `local` without a role in the token. */
const person = (subject: string): CallOptions => ({
  principal: { subject, tenant: "local", roles: [], kind: "person" },
});
const ana = person("ana@local");
const table = (name: string, init: TableInit = {}) => {
  const at = timestampFromDate(daysAgo(100));
  return publishers.table({ environmentId, createdAt: at, lastChangedAt: at, name, ...init });
};
const settled = (tableId: string) => settledExpiry(evaluator, tableId);
const refusals = () => decisionsOf(db.pool, "AUTHORIZATION_DENIED");
const open = (subject: string, ...tableIds: string[]) =>
  catalog.opened.set(subject, new Set(tableIds));

describe("one table", () => {
  const calls = (tableId: string, who: CallOptions) => [
    () => evaluator.client.getTableExpiry({ tableId }, who),
    () => evaluator.client.getTableReads({ tableId }, who),
  ];

  test("T2 T18 is shown to whom a grant or a role in the catalog opens it", async () => {
    const { tableId } = await table("a");
    await settled(tableId);
    open("ana@local", tableId);
    for (const call of calls(tableId, ana)) await expect(call()).resolves.toBeDefined();
    expect(catalog.calls).toEqual([
      { method: "batchGetTables", subject: "ana@local", asked: 1 },
      { method: "batchGetTables", subject: "ana@local", asked: 1 },
    ]);
    expect(await refusals()).toEqual([]);

    // What is taken back counts at once: nothing about rights is kept.
    catalog.opened.clear();
    for (const call of calls(tableId, ana))
      await expect(call()).rejects.toMatchObject({ kind: "denied", reason: "RIGHT_MISSING" });
    expect(await refusals()).toMatchObject([
      {
        actor: "ana@local",
        tenant: "local",
        resource: { kind: "table", id: tableId, name: "bronze.a" },
        details: { right: "table.read" },
      },
      { actor: "ana@local", resource: { kind: "table", id: tableId } },
    ]);
  });

  test("the catalog is not asked where the token or ownership suffices", async () => {
    const { tableId } = await table("a", { owner: "ana@local" });
    await settled(tableId);
    for (const who of [ana, as("reader")]) for (const call of calls(tableId, who)) await call();
    expect(catalog.calls).toEqual([]);
  });

  test("T27 one that is not there, another tenant's and one without a right answer alike to whom no role shows them all", async () => {
    const hidden = await table("hidden");
    const foreign = await table("foreign", { tenant: "other" });
    await settled(foreign.tableId);
    const answers = [];
    for (const tableId of [hidden.tableId, foreign.tableId, newId()])
      answers.push(
        await evaluator.client.getTableExpiry({ tableId }, ana).catch((error: Error) => ({
          ...error,
          message: error.message,
        })),
      );
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    const recorded = await refusals();
    expect(recorded).toHaveLength(3);
    // Nothing of another tenant's table is in this tenant's log but the id that was asked for.
    expect(recorded[1]?.resource).toMatchObject({ name: "", environment: "" });
    expect(recorded.map(({ tenant }) => tenant)).toEqual(["local", "local", "local"]);
  });
});

describe("a batch", () => {
  test("T12 leaves out what may not be read, and asks the catalog once whatever its size", async () => {
    const owned = await table("owned", { owner: "ana@local" });
    const granted = await table("granted");
    const hidden: string[] = [];
    for (let nth = 0; nth < 20; nth++) hidden.push((await table(`hidden${nth}`)).tableId);
    await settled(hidden[19] ?? "");
    open("ana@local", granted.tableId);
    const ids = [owned.tableId, ...hidden, granted.tableId];
    const batch = async (who: CallOptions) => {
      const tables = ids.map((tableId) => ({ tableId }));
      const { expiries } = await evaluator.client.batchGetTableExpiry({ tables }, who);
      return expiries.map(({ tableId }) => tableId).sort();
    };
    expect(await batch(ana)).toEqual([owned.tableId, granted.tableId].sort());
    expect(catalog.calls).toEqual([{ method: "batchGetTables", subject: "ana@local", asked: 21 }]);
    expect(await batch(as("reader"))).toEqual([...ids].sort());
    expect(catalog.calls).toHaveLength(1);
  });
});

describe("a list of what expires", () => {
  const pages = async (who: CallOptions, limit: number) => {
    const all: string[][] = [];
    let cursor = "";
    do {
      const page = await evaluator.client.listExpiringTables({ environmentId, limit, cursor }, who);
      all.push(page.tables.map(({ tableId }) => tableId));
      cursor = page.nextCursor;
    } while (cursor !== "");
    return all;
  };

  test("T11 of 1,000 tables of which ten are granted and three owned, pages are full and soonest first", async () => {
    const mine: string[] = [];
    const granted: string[] = [];
    for (let nth = 0; nth < 1_000; nth++) {
      const at = timestampFromDate(new Date(daysAgo(200).getTime() + nth * 60_000));
      const isGranted = nth % 100 === 50;
      const isOwned = nth % 333 === 7;
      const { tableId } = await table(`t${nth}`, {
        createdAt: at,
        lastChangedAt: at,
        ...(isOwned && { owner: "ana@local" }),
      });
      if (isGranted) granted.push(tableId);
      if (isGranted || isOwned) mine.push(tableId);
    }
    await settled(mine.at(-1) ?? "");
    open("ana@local", ...granted);
    const found = await pages(ana, 5);
    expect(found.flat()).toEqual(mine);
    expect(found.map(({ length }) => length)).toEqual([5, 5, mine.length - 10]);
    expect(granted).toHaveLength(10);
    expect(mine.length - granted.length).toBeGreaterThanOrEqual(3);
    expect(await pages(person("bea@local"), 5).catch(({ reason }) => reason)).toBe("RIGHT_MISSING");
    // With the filter off, as for somebody who reads all, the pages hold every table.
    expect((await pages(as("reader"), 1_000)).flat()).toHaveLength(1_000);
    catalog.readers.add("bea@local");
    expect((await pages(person("bea@local"), 1_000)).flat()).toHaveLength(1_000);
  });

  test("T11 an owner without a grant sees the own tables, by whichever rule they expire", async () => {
    const own = await table("own", { owner: "ana@local" });
    const byRule = await table("rule", { owner: "ana@local" });
    await table("other");
    await publishers.tableRule(byRule.tableId, { case: "days", value: 10 });
    await settled(byRule.tableId);
    expect((await pages(ana, 1)).flat()).toEqual([byRule.tableId, own.tableId]);
  });

  test("T11 a grant in one environment shows nothing of another, nor that there is one", async () => {
    const { tableId } = await table("a");
    await settled(tableId);
    const unknown = newId();
    const ask = (id: string) =>
      evaluator.client.listExpiringTables({ environmentId: id }, person("bea@local"));
    const { environmentId: foreign } = await publishers.environment({ tenant: "other" });
    for (const id of [environmentId, foreign, unknown])
      await expect(ask(id)).rejects.toMatchObject({ kind: "denied", reason: "RIGHT_MISSING" });
    expect(await refusals()).toMatchObject([
      { resource: { kind: "environment", id: environmentId }, tenant: "local" },
      { resource: { kind: "environment", id: foreign, name: "" }, tenant: "local" },
      { resource: { kind: "environment", id: unknown, name: "" }, tenant: "local" },
    ]);
  });
});

describe("sweeps and status", () => {
  test("T25 T26 are closed to those whose roles are bound in environments only, and each refusal is recorded", async () => {
    catalog.readers.add("ana@local");
    const { client } = evaluator;
    const calls = [
      () => client.listSweeps({}, ana),
      () => client.getSweep({ sweepId: newId() }, ana),
      () => client.listSweepHolds({}, ana),
      () => client.getEvaluatorStatus({}, ana),
      () => client.confirmSweepHold({ holdId: newId() }, as("data_engineer")),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ kind: "denied", reason: "RIGHT_MISSING" });
    expect(await refusals()).toHaveLength(calls.length);
    await expect(client.confirmSweepHold({ holdId: newId() }, as("admin"))).rejects.toMatchObject({
      reason: "SWEEP_HOLD_NOT_FOUND",
    });
  });

  test("T25 T26 are open to those whose role is bound in the tenant, for as long as it is", async () => {
    const { client } = evaluator;
    catalog.tenantRights.set("ana@local", ["sweep.manage", "table.read"]);
    await client.listSweeps({}, ana);
    await client.listSweepHolds({}, ana);
    await client.getEvaluatorStatus({}, ana);
    await client.pauseSweeps({}, ana);
    await client.resumeSweeps({}, ana);
    await client.runSweep({ dryRun: true }, ana);
    await expect(client.confirmSweepHold({ holdId: newId() }, ana)).rejects.toMatchObject({
      reason: "SWEEP_HOLD_NOT_FOUND",
    });
    const unknown = client.listExpiringTables({ environmentId: newId() }, ana);
    await expect(unknown).rejects.toMatchObject({ reason: "ENVIRONMENT_NOT_FOUND" });
    expect(await refusals()).toEqual([]);

    catalog.tenantRights.set("ana@local", ["table.read"]);
    await client.listSweeps({}, ana);
    await expect(client.pauseSweeps({}, ana)).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
    expect(await refusals()).toMatchObject([
      { actor: "ana@local", details: { right: "sweep.manage" } },
    ]);
  });

  test("T25 the catalog is not asked where the token suffices", async () => {
    await evaluator.client.listSweeps({}, as("reader"));
    await evaluator.client.pauseSweeps({}, as("admin"));
    await evaluator.client.resumeSweeps({}, as("admin"));
    expect(catalog.calls).toEqual([]);
  });

  test("T25 an API key with the role of an admin manages the sweeps of its tenant", async () => {
    const key: CallOptions = {
      principal: { subject: `key:${newId()}`, tenant: "local", roles: ["admin"], kind: "key" },
    };
    await expect(evaluator.client.pauseSweeps({}, key)).resolves.toBeDefined();
    await expect(evaluator.client.resumeSweeps({}, key)).resolves.toBeDefined();
  });
});

describe("while the catalog is away", () => {
  test("T11 T12 whoever needs its word is told so within the time, and nothing is open", async () => {
    const owned = await table("owned", { owner: "ana@local" });
    const { tableId } = await table("other");
    await settled(tableId);
    open("ana@local", tableId);
    catalog.tenantRights.set("ana@local", ["table.read"]);
    await catalog.stop();
    const { client } = evaluator;
    const calls = [
      () => client.getTableExpiry({ tableId }, ana),
      () => client.getTableReads({ tableId }, ana),
      () => client.batchGetTableExpiry({ tables: [{ tableId }] }, ana),
      () => client.listExpiringTables({ environmentId }, ana),
      () => client.listSweeps({}, ana),
      () => client.pauseSweeps({}, as("reader")),
    ];
    for (const call of calls) {
      const started = performance.now();
      await expect(call()).rejects.toMatchObject({
        kind: "unavailable",
        reason: "CATALOG_UNREACHABLE",
      });
      expect(performance.now() - started).toBeLessThan(4_000);
    }
    expect(await refusals()).toEqual([]);
    // Those who do not need it are served.
    await client.getTableExpiry({ tableId }, as("reader"));
    await client.getTableExpiry({ tableId: owned.tableId }, ana);
    await client.listExpiringTables({ environmentId }, as("reader"));
    await client.listSweeps({}, as("reader"));
    await client.pauseSweeps({}, as("admin"));
    await client.resumeSweeps({}, as("admin"));
  });
});
