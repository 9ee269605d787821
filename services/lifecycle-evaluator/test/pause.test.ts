import { describe, expect, jest, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import { decisionsOf } from "./lab/decisions.ts";
import { as } from "./lab/evaluator.ts";
import { System } from "./lab/system.ts";

jest.setTimeout(60_000);
const system = new System("pause");
const start: System["start"] = (...given) => system.start(...given);
const sweep = () => system.sweep();
const tables: System["tables"] = (...given) => system.tables(...given);
const issued = () => system.issued();

describe("pausing", () => {
  test("T25 a paused evaluator sweeps neither by the schedule nor on request, until it is resumed", async () => {
    await start({ LAPSE_RUN__SWEEP_INTERVAL: "1" });
    await system.evaluator.client.pauseSweeps({ reason: "moving house" }, as("admin"));
    const status = await system.evaluator.client.getEvaluatorStatus({}, as("reader"));
    expect(status).toMatchObject({
      sweepsPaused: true,
      pausedBy: "admin@local",
      pauseReason: "moving house",
    });
    await expect(sweep()).rejects.toMatchObject({
      kind: "precondition",
      reason: "SWEEPS_PAUSED",
      message: expect.stringContaining("moving house"),
    });
    const { environmentId } = await system.publishers.environment();
    const [tableId] = await tables(environmentId, 1);
    await system.publishers.environmentRule(environmentId, 30);
    const before = (await system.evaluator.client.listSweeps({}, as("reader"))).sweeps.length;
    const { wouldDrop } = await system.evaluator.client.runSweep({ dryRun: true }, as("admin"));
    expect(wouldDrop).toHaveLength(1);
    expect((await system.evaluator.client.listSweeps({}, as("reader"))).sweeps).toHaveLength(
      before,
    );
    expect(issued()).toEqual([]);

    await system.evaluator.client.resumeSweeps({}, as("admin"));
    await waitFor(() => issued().includes(tableId ?? ""));
    const types = (await decisionsOf(system.pool)).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith("SWEEP_"))).toEqual([
      "SWEEP_PAUSED",
      "SWEEP_RESUMED",
    ]);
  });

  test.each(["writer", "data_engineer"] as const)(
    "T25 only an admin runs, pauses and resumes sweeps: a %s does not, and the refusal is recorded",
    async (role) => {
      await start();
      const { client } = system.evaluator;
      const calls = [
        () => client.pauseSweeps({ reason: "" }, as(role)),
        () => client.resumeSweeps({}, as(role)),
        () => client.runSweep({}, as(role)),
        () => client.runSweep({ dryRun: true }, as(role)),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({ kind: "denied", reason: "RIGHT_MISSING" });
      }
      const refused = await decisionsOf(system.pool, "AUTHORIZATION_DENIED");
      expect(refused).toHaveLength(calls.length);
      expect(refused[0]).toMatchObject({
        actor: `${role}@local`,
        details: { right: "sweep.manage" },
      });
      const { sweeps } = await client.listSweeps({}, as("reader"));
      expect(sweeps).toEqual([]);
    },
  );
});
