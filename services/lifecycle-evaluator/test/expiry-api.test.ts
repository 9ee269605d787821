import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
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
import { createGrpcClient, newId } from "@lapse/kit";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { TableKind, TableState } from "@lapse/proto/events";
import { type TestNats, testNats, testTokens, waitFor } from "@lapse/test-kit";
import { type CatalogServer, serveCatalog } from "./lab/catalog-server.ts";
import { type LabDatabase, labDatabase, quiet } from "./lab/database.ts";
import { decisionsOf } from "./lab/decisions.ts";
import { as, type Evaluator, settledExpiry, startTestEvaluator } from "./lab/evaluator.ts";
import { daysAgo, Publishers, type TableInit } from "./lab/publishers.ts";

let db: LabDatabase;
let broker: TestNats;
let evaluator: Evaluator;
let publishers: Publishers;
let catalog: CatalogServer;
const tokens = testTokens();
jest.setTimeout(60_000);

beforeAll(async () => {
  db = await labDatabase("expiry api");
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
  const environment = await publishers.environment({ name: `env-${newId()}` });
  environmentId = environment.environmentId;
});

/** A table used `days` ago. */
const table = async (days: number, init: TableInit = {}) => {
  const at = timestampFromDate(daysAgo(days));
  return publishers.table({
    environmentId,
    createdAt: at,
    lastChangedAt: at,
    name: `t${days}`,
    ...init,
  });
};
const settled = async (tableId: string) => (await settledExpiry(evaluator, tableId)).expiry;

describe("getTableExpiry", () => {
  test("T2 T9 says when a table expires, by whose rule, and what it counted from", async () => {
    const { tableId } = await table(10);
    expect(await settled(tableId)).toMatchObject({
      source: "",
      lastActivityKind: "created",
      kept: "",
    });
    await publishers.environmentRule(environmentId, 30);
    const inherited = await settled(tableId);
    expect(inherited).toMatchObject({
      source: "environment",
      rule: { rule: { case: "days", value: 30 } },
    });
    await publishers.tableRule(tableId, { case: "on", value: "2099-01-01" });
    const own = await settled(tableId);
    expect(own).toMatchObject({
      source: "table",
      rule: { rule: { case: "on", value: "2099-01-01" } },
    });
    expect(own?.expiresAt && timestampDate(own.expiresAt)).toEqual(
      new Date("2099-01-01T00:00:00Z"),
    );
  });

  test("T12 expires_soon is the warning window, in retention days", async () => {
    const soon = await table(25);
    const later = await table(20);
    await publishers.environmentRule(environmentId, 30);
    expect((await settled(soon.tableId))?.expiresSoon).toBe(true);
    expect((await settled(later.tableId))?.expiresSoon).toBe(false);
  });

  test.each([
    ["protected", { protected: true }, {}],
    ["project_asset", {}, { projectAsset: true }],
  ])("T2 T19 T20 says that a table with a rule is kept: %s", async (kept, environment, init) => {
    const { environmentId: keeping } = await publishers.environment({
      name: `k-${newId()}`,
      ...environment,
    });
    const { tableId } = await table(90, { environmentId: keeping, ...init });
    await publishers.environmentRule(keeping, 30);
    expect(await settled(tableId)).toMatchObject({ source: "environment", kept });
    expect((await settled(tableId))?.expiresAt).toBeUndefined();
  });

  test.each([
    ["a view", { kind: TableKind.VIEW }],
    ["a dropped table", { state: TableState.DROPPED }],
  ])("T22 %s does not expire", async (_what, init) => {
    const { tableId } = await table(90, init);
    await publishers.environmentRule(environmentId, 30);
    expect((await settled(tableId))?.expiresAt).toBeUndefined();
  });

  test("another tenant's table, one nobody has spoken of and a purged one are not found", async () => {
    const other = await table(5, { tenant: "other" });
    const purged = await table(6, { state: TableState.PURGED });
    await settled(other.tableId);
    for (const tableId of [other.tableId, purged.tableId, newId()]) {
      await expect(evaluator.client.getTableExpiry({ tableId }, as("admin"))).rejects.toMatchObject(
        {
          kind: "not_found",
          reason: "TABLE_NOT_FOUND",
        },
      );
    }
    const seen = await evaluator.client.getTableExpiry(
      { tableId: other.tableId },
      as("reader", "other"),
    );
    expect(seen.expiry?.tableId).toBe(other.tableId);
  });

  test("who has no right is refused, and that is recorded; the owner needs no role", async () => {
    const { tableId } = await table(5, { owner: "nobody@local" });
    const others = await table(6);
    await settled(others.tableId);
    await expect(
      evaluator.client.getTableExpiry({ tableId: others.tableId }, as(null)),
    ).rejects.toMatchObject({ kind: "denied", reason: "RIGHT_MISSING" });
    expect(await decisionsOf(db.pool, "AUTHORIZATION_DENIED")).toMatchObject([
      {
        actor: "nobody@local",
        tenant: "local",
        reason: "right_missing",
        resource: { kind: "table", id: others.tableId, name: "bronze.t6" },
      },
    ]);
    expect((await evaluator.client.getTableExpiry({ tableId }, as(null))).expiry?.tableId).toBe(
      tableId,
    );
  });

  test("at_least waits until the evaluator has heard of those versions", async () => {
    const { tableId } = await table(5);
    const atLeast = { changeVersion: 1n, retentionVersion: 4n, policyVersion: 2n };
    const answer = evaluator.client.getTableExpiry({ tableId, atLeast });
    await publishers.tableRule(tableId, { case: "days", value: 9 }, { retentionVersion: 4n });
    await publishers.environmentRule(environmentId, 30, { policyVersion: 2n });
    expect((await answer).expiry?.rule).toMatchObject({ rule: { case: "days", value: 9 } });

    const started = performance.now();
    await expect(
      evaluator.client.getTableExpiry({ tableId, atLeast: { ...atLeast, changeVersion: 99n } }),
    ).rejects.toMatchObject({ kind: "unavailable", reason: "EVALUATOR_BEHIND" });
    expect(performance.now() - started).toBeLessThan(3_500);
  });

  test("a batch leaves out what the caller may not read", async () => {
    const mine = await table(5);
    const other = await table(6, { tenant: "other" });
    await settled(mine.tableId);
    await settled(other.tableId);
    const tables = [mine.tableId, other.tableId, newId()].map((tableId) => ({ tableId }));
    const { expiries } = await evaluator.client.batchGetTableExpiry({ tables }, as("reader"));
    expect(expiries.map(({ tableId }) => tableId)).toEqual([mine.tableId]);
    const none = await evaluator.client.batchGetTableExpiry({ tables }, as(null));
    expect(none.expiries).toEqual([]);
  });

  test("T12 a batch says nothing of a table whose latest changes it has not read in time", async () => {
    const [known, behind] = [await table(5), await table(6)];
    await settled(known.tableId);
    await settled(behind.tableId);
    const tables = [
      { tableId: known.tableId },
      { tableId: behind.tableId, atLeast: { changeVersion: 99n } },
    ];
    const started = performance.now();
    const { expiries } = await evaluator.client.batchGetTableExpiry({ tables }, as("reader"));
    expect(expiries.map(({ tableId }) => tableId)).toEqual([known.tableId]);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  test("malformed requests are refused with every fault at once", async () => {
    await expect(evaluator.client.getTableExpiry({ tableId: "seven" })).rejects.toMatchObject({
      kind: "invalid",
      reason: "REQUEST_INVALID",
      violations: [{ field: "/table_id" }],
    });
    await expect(
      evaluator.client.listExpiringTables({
        environmentId: "x",
        withinDays: -1,
        limit: 5_000,
        cursor: "?",
      }),
    ).rejects.toMatchObject({
      violations: [
        { field: "/environment_id" },
        { field: "/within_days" },
        { field: "/limit" },
        { field: "/cursor" },
      ],
    });
    const tables = Array.from({ length: 1_001 }, () => ({ tableId: newId() }));
    await expect(evaluator.client.batchGetTableExpiry({ tables })).rejects.toMatchObject({
      violations: [{ field: "/tables" }],
    });
  });
});

describe("listExpiringTables", () => {
  const list = (request: object = {}, options = as("reader")) =>
    evaluator.client.listExpiringTables({ environmentId, ...request }, options);

  test("T11 lists what expires within the window, overdue first, by either rule, page by page", async () => {
    await publishers.environmentRule(environmentId, 30);
    const overdue = await table(100);
    const inherited = await table(26);
    const own = await table(3);
    const far = await table(2);
    const kept = await table(200, { projectAsset: true });
    await publishers.tableRule(own.tableId, { case: "days", value: 5 });
    await publishers.tableRule(far.tableId, { case: "days", value: 500 });
    await settled(far.tableId);
    const ids = [overdue.tableId, own.tableId, inherited.tableId];
    const { tables, nextCursor } = await list();
    expect(tables.map(({ tableId }) => tableId)).toEqual(ids);
    expect(tables.map(({ source }) => source)).toEqual(["environment", "table", "environment"]);
    expect(tables[0]).toMatchObject({
      environmentId,
      namespace: "bronze",
      name: "t100",
      setBy: "ana",
    });
    expect(nextCursor).toBe("");
    expect(tables.map(({ tableId }) => tableId)).not.toContain(kept.tableId);

    const paged: string[] = [];
    let cursor = "";
    do {
      const page = await list({ limit: 1, cursor });
      expect(page.tables).toHaveLength(1);
      paged.push(...page.tables.map(({ tableId }) => tableId));
      cursor = page.nextCursor;
    } while (cursor !== "");
    expect(paged).toEqual(ids);

    const wide = await list({ withinDays: 600 });
    expect(wide.tables.map(({ tableId }) => tableId)).toEqual([...ids, far.tableId]);
    expect((await list({ withinDays: 0.5 })).tables.map(({ tableId }) => tableId)).toEqual([
      overdue.tableId,
    ]);
  });

  test("T11 a page goes on where the last one ended although tables have come, gone and been used meanwhile", async () => {
    await publishers.environmentRule(environmentId, 30);
    const [a, b, c, d] = [await table(40), await table(39), await table(38), await table(37)];
    await settled(d.tableId);
    const first = await list({ limit: 2 });
    expect(first.tables.map(({ tableId }) => tableId)).toEqual([a.tableId, b.tableId]);
    await publishers.changed({ ...a, changeVersion: 2n, state: TableState.DROPPED });
    await publishers.changed({
      ...c,
      changeVersion: 2n,
      lastChangedAt: timestampFromDate(daysAgo(24)),
    });
    const earlier = await table(50);
    await settled(earlier.tableId);
    const second = await list({ limit: 2, cursor: first.nextCursor });
    expect(second.tables.map(({ tableId }) => tableId)).toEqual([d.tableId, c.tableId]);
  });

  test("T19 a protected environment lists nothing; one of another tenant, or unknown, is not found", async () => {
    const { environmentId: safe } = await publishers.environment({
      name: `p-${newId()}`,
      protected: true,
    });
    const { environmentId: foreign } = await publishers.environment({
      name: `o-${newId()}`,
      tenant: "other",
    });
    const { tableId } = await table(90, { environmentId: safe });
    await publishers.environmentRule(safe, 30);
    await settled(tableId);
    expect((await list({ environmentId: safe })).tables).toEqual([]);
    for (const other of [foreign, newId()]) {
      await expect(list({ environmentId: other })).rejects.toMatchObject({
        reason: "ENVIRONMENT_NOT_FOUND",
      });
    }
    await expect(list({}, as(null))).rejects.toMatchObject({ kind: "denied" });
  });
});

describe("confirmTablesDue", () => {
  test("answers for services what had reached the streams at the call, with the versions it saw", async () => {
    const { tableId } = await table(90, { changeVersion: 5n });
    const young = await table(1);
    await publishers.environmentRule(environmentId, 30, { policyVersion: 3n });
    await publishers.tableRule(tableId, { case: "days", value: 40 }, { retentionVersion: 4n });
    const ask = () =>
      evaluator.client.confirmTablesDue({ tableIds: [tableId, young.tableId, newId()] });
    const { confirmations } = await ask();
    expect(confirmations).toHaveLength(2);
    expect(confirmations.find((each) => each.tableId === tableId)).toMatchObject({
      due: true,
      seen: { changeVersion: 5n, retentionVersion: 4n, policyVersion: 3n },
      expiry: { source: "table", setBy: "ana" },
    });
    expect(confirmations.find((each) => each.tableId === young.tableId)?.due).toBe(false);

    const read = Buffer.from(JSON.stringify({ tableId }));
    await publishers.nats.publish("activity.table.read", read, {}, { msgId: newId() });
    const again = await ask();
    expect(again.confirmations.find((each) => each.tableId === tableId)?.due).toBe(false);
  });

  test("a person is refused, whatever their role", async () => {
    const call = evaluator.client.confirmTablesDue({ tableIds: [] });
    await expect(call).resolves.toBeDefined();
    const direct = tokens.sign({ subject: "root@local", tenant: "local", roles: ["superadmin"] });
    const person = createGrpcClient(LifecycleEvaluatorService, {
      url: evaluator.url,
      serviceToken: direct,
      log: quiet,
    });
    await expect(person.confirmTablesDue({ tableIds: [] })).rejects.toMatchObject({
      kind: "denied",
      reason: "SERVICE_REQUIRED",
    });
    person.close();
  });
});

describe("readiness", () => {
  test("is reported once the database, NATS and gRPC are there", async () => {
    const ready = await waitFor(async () => {
      const response = await fetch(`http://127.0.0.1:${evaluator.operationsPort}/readyz`);
      return response.ok ? ((await response.json()) as { checks: object }) : undefined;
    });
    expect(Object.keys(ready.checks).sort()).toEqual(["database", "grpc", "nats"]);
    const metrics = await (
      await fetch(`http://127.0.0.1:${evaluator.operationsPort}/metrics`)
    ).text();
    expect(metrics).toContain("lapse_events_folded_total");
  });
});
