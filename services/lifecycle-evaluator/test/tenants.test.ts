import { describe, expect, jest, test } from "@jest/globals";
import { SweepStatus } from "@lapse/proto/evaluator";
import { decisionsOf } from "./lab/decisions.ts";
import { as } from "./lab/evaluator.ts";
import { System } from "./lab/system.ts";

jest.setTimeout(60_000);
const system = new System("tenants");

/** Overdue tables of a tenant, in an environment of its own. */
async function overdue(tenant: string, count: number, days = 300) {
  const { environmentId } = await system.publishers.environment({ tenant, name: tenant });
  await system.publishers.environmentRule(environmentId, 30);
  return system.tables(environmentId, count, days, { tenant, environment: tenant });
}
const run = async (tenant: string) =>
  (await system.evaluator.client.runSweep({ waitSeconds: 30 }, as("admin", tenant))).sweep;
const list = async (tenant: string) =>
  (await system.evaluator.client.listSweeps({}, as("reader", tenant))).sweeps;

describe("one tenant and another", () => {
  test("T25 an admin's sweep takes the tables of its own tenant, and the other learns nothing of it", async () => {
    await system.start();
    const mine = await overdue("local", 2);
    await overdue("other", 3);
    const sweep = await run("local");
    expect(sweep).toMatchObject({ due: 2, dropped: 2, requestedBy: "admin@local" });
    expect(system.issued()).toEqual(mine);
    expect(await list("other")).toEqual([]);
    const get = { sweepId: sweep?.sweepId ?? "" };
    await expect(system.evaluator.client.getSweep(get, as("admin", "other"))).rejects.toMatchObject(
      { kind: "not_found", reason: "SWEEP_NOT_FOUND" },
    );
    const status = await system.evaluator.client.getEvaluatorStatus({}, as("reader", "other"));
    expect(status.lastSweep).toBeUndefined();
  });

  test("T25 of a sweep of all, each sees the counts and outcomes of its own tables", async () => {
    await system.start({ LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: "3" });
    const mine = await overdue("local", 4, 320);
    const theirs = await overdue("other", 3);
    await overdue("third", 0);
    system.verdict = (tableId) => (tableId === mine[0] ? "held" : null);
    const { sweepId } = await system.sweepAll();
    const seen = async (tenant: string) => {
      const answer = await system.evaluator.client.getSweep({ sweepId }, as("reader", tenant));
      return { ...answer.sweep, outcomes: answer.outcomes.map(({ tableId }) => tableId).sort() };
    };
    // Each had one of the cap for certain; the third's went to the most overdue of all.
    expect(await seen("local")).toMatchObject({
      due: 3,
      dropped: 2,
      kept: { held: 1 },
      capped: true,
      requestedBy: "",
      outcomes: mine.slice(0, 3).sort(),
    });
    expect(await seen("other")).toMatchObject({
      due: 1,
      dropped: 1,
      kept: {},
      capped: true,
      outcomes: theirs.slice(0, 1),
    });
    expect(await seen("third")).toMatchObject({ due: 0, capped: false, outcomes: [] });
    await system.sweepAll();
    const [newest] = await list("other");
    expect(newest).toMatchObject({ due: 2, dropped: 2, kept: {}, capped: false });
  });

  test("T24 a mass of overdue tables of one tenant keeps none of another's from being dropped", async () => {
    await system.start({
      LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: "6",
      LAPSE_TABLES__MAX_EXPIRY_SHARE: "1",
    });
    const mass = await overdue("other", 40, 350);
    const mine = await overdue("local", 2);
    // Tables that are kept use up neither the cap nor a share.
    const kept = new Set(mass.slice(0, 10));
    system.verdict = (tableId) => (kept.has(tableId) ? "held" : null);
    await system.sweepAll();
    const issued = system.issued();
    expect(issued.filter((tableId) => !kept.has(tableId)).sort()).toEqual(
      [...mine, ...mass.slice(10, 14)].sort(),
    );
    expect(new Set(issued).size).toBe(issued.length);
  });

  test("T25 a pause is of one tenant: the others are swept, and neither sees nor ends it", async () => {
    await system.start({ LAPSE_RUN__SWEEP_INTERVAL: "1" });
    const { client } = system.evaluator;
    await client.pauseSweeps({ reason: "moving house" }, as("admin"));
    await overdue("local", 2);
    const theirs = await overdue("other", 2);
    expect(await run("other")).toMatchObject({ status: SweepStatus.COMPLETED });
    expect([...system.issued()].sort()).toEqual([...theirs].sort());
    await expect(run("local")).rejects.toMatchObject({ reason: "SWEEPS_PAUSED" });

    const other = as("admin", "other");
    expect(await client.getEvaluatorStatus({}, other)).toMatchObject({
      sweepsPaused: false,
      pausedBy: "",
      pauseReason: "",
    });
    await client.resumeSweeps({}, other);
    const status = await client.getEvaluatorStatus({}, as("reader"));
    expect(status).toMatchObject({ sweepsPaused: true, pausedBy: "admin@local" });
    expect(status.nextSweepAt).toBeUndefined();
    expect(await decisionsOf(system.pool, "SWEEP_RESUMED")).toEqual([]);
    expect((await system.sweepAll()).due).toBe(0);
  });

  test("T25 a dry run lists what a sweep of the own tables would take, whatever others have due", async () => {
    await system.start({ LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: "3" });
    await overdue("other", 9, 350);
    const mine = await overdue("local", 3);
    await system.evaluator.client.getTableExpiry({ tableId: mine[2] ?? "", consistent: true });
    const dry = await system.evaluator.client.runSweep({ dryRun: true }, as("admin"));
    expect(dry.wouldDrop.map(({ expiry }) => expiry?.tableId)).toEqual(mine);
    expect(await run("local")).toMatchObject({ dropped: 3, capped: false });
  });

  test("a service that acts for nobody pauses nobody", async () => {
    await system.start();
    for (const call of [
      system.evaluator.client.pauseSweeps({}),
      system.evaluator.client.resumeSweeps({}),
    ]) {
      await expect(call).rejects.toMatchObject({ reason: "TENANT_REQUIRED" });
    }
  });
});
