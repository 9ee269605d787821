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
import { newId, withTransaction } from "@lapse/kit";
import { SweepStatus } from "@lapse/proto/evaluator";
import { type TestNats, testNats, testTokens, waitFor } from "@lapse/test-kit";
import { applyBatch } from "../src/events/apply-batch.ts";
import { policyFold } from "../src/events/policy-fold.ts";
import { advancePosition, loadPosition } from "../src/store/fold-positions.ts";
import { answer, playCatalog } from "./lab/catalog-double.ts";
import { type LabDatabase, labDatabase } from "./lab/database.ts";
import { as, type Evaluator, startTestEvaluator } from "./lab/evaluator.ts";
import { Publishers } from "./lab/publishers.ts";

let db: LabDatabase;
let broker: TestNats;
let publishers: Publishers;
let running: Evaluator[];
const tokens = testTokens();
jest.setTimeout(60_000);

beforeAll(async () => {
  db = await labDatabase("take over");
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.clear();
  running = [];
  broker = await testNats();
  publishers = await Publishers.connect(broker.url);
});
afterEach(async () => {
  for (const evaluator of running) await evaluator.stop();
  await publishers.close();
  await broker.close();
});

const start = async (timing = {}): Promise<Evaluator> => {
  const urls = { databaseUrl: db.url, natsUrl: broker.url };
  const evaluator = await startTestEvaluator({ ...urls, tokens, timing });
  running.push(evaluator);
  return evaluator;
};
const stop = async (evaluator: Evaluator) => {
  running = running.filter((each) => each !== evaluator);
  await evaluator.stop();
};
const dueTable = async () => {
  const { environmentId } = await publishers.environment();
  const { tableId } = await publishers.table({ environmentId });
  await publishers.tableRule(tableId, { case: "days", value: 30 });
  return tableId;
};
const holderOf = async (name: string) => {
  const { rows } = await db.pool.query<{ holder: string; token: bigint }>(
    `select holder, token from lapse_kit.lease where name = $1 and expires_at > now()`,
    [name],
  );
  return rows[0];
};

describe("two evaluators", () => {
  test("T23 fold and sweep in one of them; the other takes over what that one leaves", async () => {
    const catalog = playCatalog(publishers, () => null);
    const first = await start();
    await waitFor(() => holderOf("fold"));
    await waitFor(() => holderOf("scheduler"));
    const second = await start();
    const tableId = await dueTable();
    // Asked of the one that neither folds nor sweeps.
    const done = await second.client.runSweep({ waitSeconds: 30 }, as("admin"));
    expect(done.sweep).toMatchObject({ status: SweepStatus.COMPLETED, dropped: 1 });
    const before = await holderOf("scheduler");

    await stop(first);
    const { tableId: next } = await publishers.table({
      environmentId: (await publishers.environment()).environmentId,
    });
    await publishers.tableRule(next, { case: "days", value: 30 });
    const again = await waitFor(async () => {
      const answer = await second.client.runSweep({ waitSeconds: 30 }, as("admin"));
      return answer.sweep?.dropped === 1 ? answer.sweep : undefined;
    });
    expect(again.status).toBe(SweepStatus.COMPLETED);
    expect((await holderOf("scheduler"))?.holder).not.toBe(before?.holder);
    expect(catalog.due.map((due) => due.tableId)).toEqual([tableId, next]);
    await catalog.stop();
  });

  test("T23 a holder that dies without a word is replaced once its lease has run out, and its sweep is marked interrupted", async () => {
    // What a killed process leaves behind: leases that nobody renews, a sweep that nobody runs, a table unanswered.
    const tableId = await dueTable();
    const sweepId = newId();
    await db.pool.query(
      `insert into lapse_kit.lease (name, holder, token, expires_at)
       select name, 'dead', 7, now() + interval '2 seconds' from unnest(array['fold', 'scheduler']) as name
       on conflict (name) do update set holder = 'dead', token = 7, expires_at = excluded.expires_at`,
    );
    await db.pool.query(
      `insert into sweep (sweep_id, status, tenant, started_at) values ($1, 'running', '*', now())`,
      [sweepId],
    );
    await db.pool.query(
      `insert into sweep_candidate (sweep_id, table_id, tenant, name, issued_at) values ($1, $2, 'local', 'bronze.trial', now())`,
      [sweepId, tableId],
    );
    const evaluator = await start();
    const record = async () => (await evaluator.client.getSweep({ sweepId }, as("reader"))).sweep;
    await waitFor(async () => (await record())?.status === SweepStatus.INTERRUPTED, {
      timeoutMs: 20_000,
    });
    const { outcomes } = await evaluator.client.getSweep({ sweepId }, as("reader"));
    expect(outcomes).toMatchObject([{ tableId, outcome: "unanswered" }]);

    const catalog = playCatalog(publishers, () => null);
    const done = await evaluator.client.runSweep({ waitSeconds: 30 }, as("admin"));
    expect(done.sweep).toMatchObject({ status: SweepStatus.COMPLETED, dropped: 1 });

    // The dead one's due event is answered late, and lands in its record.
    const [due] = catalog.due;
    if (due) await answer(publishers, { ...due, sweepId }, "already_dropped");
    await waitFor(async () => (await record())?.kept.already_dropped === 1);
    await catalog.stop();
  });
});

describe("a process that has lost its lease", () => {
  const batch = {
    stream: "POLICY" as const,
    firstSequence: 1n,
    lastSequence: 1n,
    streamCreatedAt: new Date("2026-01-01T00:00:00Z"),
    park: async () => undefined,
  };

  test("folds nothing, and the position stays", async () => {
    await db.pool.query(
      `insert into lapse_kit.lease (name, holder, token, expires_at) values ('fold', 'other', 9, now() + interval '1 hour')
       on conflict (name) do update set token = 9, expires_at = excluded.expires_at`,
    );
    await expect(
      applyBatch({ pool: db.pool, token: 8n }, policyFold, [], batch),
    ).rejects.toMatchObject({
      reason: "LEASE_LOST",
    });
    expect(await loadPosition(db.pool, "POLICY")).toEqual({ sequence: 0n, streamCreatedAt: null });
    await applyBatch({ pool: db.pool, token: 9n }, policyFold, [], batch);
    expect((await loadPosition(db.pool, "POLICY")).sequence).toBe(1n);
  });

  test.each([
    ["begins again where one ended", { firstSequence: 1n, lastSequence: 5n }],
    ["leaves out a message", { firstSequence: 7n, lastSequence: 8n }],
    [
      "comes from another stream of the name",
      { firstSequence: 6n, lastSequence: 8n, streamCreatedAt: new Date(1) },
    ],
  ])("a batch that %s is refused: it would count twice, or skip", async (_what, other) => {
    const first = { ...batch, lastSequence: 5n };
    await withTransaction(db.pool, (tx) => advancePosition(tx, first));
    await expect(
      withTransaction(db.pool, (tx) => advancePosition(tx, { ...batch, ...other })),
    ).rejects.toMatchObject({ reason: "FOLD_POSITION_MOVED" });
    await withTransaction(db.pool, (tx) =>
      advancePosition(tx, { ...batch, firstSequence: 6n, lastSequence: 6n }),
    );
    expect((await loadPosition(db.pool, "POLICY")).sequence).toBe(6n);
  });
});
