import { describe, expect, jest, test } from "@jest/globals";
import { newId } from "@lapse/kit";
import { SweepStatus } from "@lapse/proto/evaluator";
import { waitFor } from "@lapse/test-kit";
import { decisionsOf } from "./lab/decisions.ts";
import { as, metricOf } from "./lab/evaluator.ts";
import { System } from "./lab/system.ts";

jest.setTimeout(60_000);
const system = new System("sweep guards");
const CAP = "LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP";
const SHARE = "LAPSE_TABLES__MAX_EXPIRY_SHARE";

const holds = async (all = false, options = as("reader")) =>
  (await system.evaluator.client.listSweepHolds({ all }, options)).holds;
const confirm = (holdId: string, options = as("admin")) =>
  system.evaluator.client.confirmSweepHold({ holdId }, options);
const heldDecisions = async () => decisionsOf(system.pool, "SWEEP_HELD");

/** An environment with a rule of thirty days, `overdue` tables long past it and `young` ones. */
async function environmentOf(overdue: number, young: number, name = "dev", tenant = "local") {
  const { environmentId } = await system.publishers.environment({ name, tenant });
  const old = await system.tables(environmentId, overdue, 300, { tenant, environment: name });
  const recent = await system.tables(environmentId, young, 5, {
    tenant,
    environment: name,
    namespace: "silver",
  });
  await system.publishers.environmentRule(environmentId, 30);
  return { environmentId, old, recent };
}

describe("the breaker", () => {
  test("T26 T24 holds an environment back of which too much is due, alarms once, and leaves the cap to the others", async () => {
    await system.start({ [CAP]: "3" });
    const { environmentId } = await environmentOf(20, 5);
    const other = await environmentOf(3, 3, "test");
    const first = await system.sweep();
    expect(first).toMatchObject({
      status: SweepStatus.COMPLETED,
      due: 3,
      dropped: 3,
      capped: false,
      heldEnvironments: ["dev"],
    });
    expect([...system.issued()].sort()).toEqual([...other.old].sort());
    expect(await system.sweep()).toMatchObject({ due: 0, heldEnvironments: ["dev"] });

    const [hold, ...more] = await holds();
    expect(more).toEqual([]);
    expect(hold).toMatchObject({
      kind: "breaker",
      environmentId,
      environment: "dev",
      due: 20,
      tables: 25,
      share: 0.5,
      confirmedBy: "",
    });
    expect(await heldDecisions()).toMatchObject([
      {
        tenant: "local",
        actor: "",
        reason: "breaker",
        runId: first.sweepId,
        resource: { kind: "environment", id: environmentId, name: "dev" },
        details: { hold_id: hold?.holdId, due: 20, tables: 25, share: 0.5 },
      },
    ]);
    await waitFor(
      async () =>
        (await metricOf(system.evaluator, "lapse_sweep_holds", { kind: "breaker" })) === 1,
    );
  });

  test("T26 with a share of 1 there is no breaker, and the same tables are dropped", async () => {
    await system.start({ [SHARE]: "1" });
    await environmentOf(20, 5);
    expect(await system.sweep()).toMatchObject({ dropped: 20, heldEnvironments: [] });
    expect(await holds()).toEqual([]);
  });

  test("T26 what an admin confirms is dropped, however many sweeps it takes, and the hold is over with it", async () => {
    await system.start({ [CAP]: "8" });
    await environmentOf(20, 5);
    await system.sweep();
    const [{ holdId } = { holdId: "" }] = await holds();
    await expect(confirm(holdId, as("data_engineer"))).rejects.toMatchObject({
      reason: "RIGHT_MISSING",
    });
    const { hold } = await confirm(holdId);
    expect(hold).toMatchObject({ holdId, confirmedBy: "admin@local" });
    expect((await confirm(holdId)).hold).toEqual(hold);
    expect(await decisionsOf(system.pool, "SWEEP_CONFIRMED")).toMatchObject([
      {
        actor: "admin@local",
        tenant: "local",
        reason: "breaker",
        resource: { kind: "environment", name: "dev" },
        details: { hold_id: holdId, due: 20 },
      },
    ]);
    expect(await holds()).toEqual([]);
    expect(await holds(true)).toMatchObject([{ holdId, confirmedBy: "admin@local", ended: false }]);

    // Twelve of seventeen are left after the first, which would be too much had nobody confirmed.
    const dropped = [];
    for (let nth = 0; nth < 3; nth++) dropped.push((await system.sweep()).dropped);
    expect(dropped).toEqual([8, 8, 4]);
    await system.sweep();
    expect(await holds(true)).toMatchObject([{ holdId, ended: true }]);
    expect(await heldDecisions()).toHaveLength(1);
  });

  test("T26 what becomes due after a confirmation is counted afresh, and does not stop what was confirmed", async () => {
    await system.start({ [CAP]: "5" });
    const { old, recent } = await environmentOf(13, 12);
    await system.sweep();
    const [{ holdId } = { holdId: "" }] = await holds();
    await confirm(holdId);
    // As if it had been confirmed long ago: the others became due only after that.
    await system.pool.query(`update sweep_hold set horizon = now() - interval '200 days'`);
    for (const tableId of recent)
      await system.publishers.tableRule(tableId, { case: "days", value: 1 });

    expect(await system.sweep()).toMatchObject({ dropped: 5, heldEnvironments: [] });
    // Now twelve of twenty are due that nobody has confirmed.
    expect(await system.sweep()).toMatchObject({ dropped: 5, heldEnvironments: ["dev"] });
    expect(system.issued()).toEqual(old.slice(0, 10));
    const waiting = await holds();
    expect(waiting).toMatchObject([{ due: 12, tables: 20 }]);
    expect(waiting[0]?.holdId).not.toBe(holdId);
  });

  test("T26 a hold goes away by itself when the tables are used again, and can then not be confirmed", async () => {
    await system.start();
    const { old } = await environmentOf(20, 5);
    await system.sweep();
    const [{ holdId } = { holdId: "" }] = await holds();
    const events = old.slice(0, 15).map((tableId) => ({ tableId }));
    const body = Buffer.from(JSON.stringify({ events }));
    await system.publishers.nats.publish("activity.table.read", body, {}, { msgId: newId() });
    expect(await system.sweep()).toMatchObject({ dropped: 5, heldEnvironments: [] });
    expect(await holds()).toEqual([]);
    await expect(confirm(holdId)).rejects.toMatchObject({
      kind: "precondition",
      reason: "SWEEP_HOLD_ENDED",
    });
  });
});

describe("the clock", () => {
  /** As if the clock had been set by so much since the last look. */
  const setClock = async (interval: string) => {
    await waitFor(async () => {
      const { rowCount } = await system.pool.query(
        `update lapse_kit.clock_watch set last_seen_at = last_seen_at - $1::interval where use = 'sweep'`,
        [interval],
      );
      return rowCount === 1;
    });
  };
  const known = async (environmentId: string) =>
    waitFor(async () => {
      const { rowCount } = await system.pool.query(
        `select from environment_state where environment_id = $1 and change_version > 0`,
        [environmentId],
      );
      return rowCount === 1;
    });

  test.each([
    ["behind", "-1 hour"],
    ["ahead", "5 hours"],
  ])(
    "T26 one that is %s stops the sweeps of every tenant until its own admin confirms",
    async (kind, by) => {
      await system.start({ LAPSE_RUN__SWEEP_INTERVAL: "0", [SHARE]: "1" });
      const mine = await environmentOf(2, 0);
      const theirs = await environmentOf(2, 0, "theirs", "other");
      await known(theirs.environmentId);
      await setClock(by);
      const [hold] = await waitFor(async () => {
        const found = await holds();
        return found.length === 1 ? found : undefined;
      });
      expect(hold).toMatchObject({ kind: "clock", environment: "", confirmedBy: "" });
      expect(await system.sweep()).toMatchObject({ status: SweepStatus.HELD, heldReason: "clock" });
      expect(await system.sweepAll()).toMatchObject({
        status: SweepStatus.HELD,
        heldReason: "clock",
      });
      expect(system.issued()).toEqual([]);
      const decisions = await heldDecisions();
      expect(decisions.map(({ tenant }) => tenant).sort()).toEqual(["local", "other"]);
      expect(decisions[0]).toMatchObject({ reason: "clock", details: { clock: kind } });

      // An admin of another tenant neither sees nor confirms this one.
      const admin = as("admin", "other");
      const [foreign] = await holds(false, admin);
      expect(foreign?.holdId).not.toBe(hold?.holdId);
      await expect(confirm(hold?.holdId ?? "", admin)).rejects.toMatchObject({
        kind: "not_found",
        reason: "SWEEP_HOLD_NOT_FOUND",
      });
      await confirm(foreign?.holdId ?? "", admin);
      expect(await system.sweepAll()).toMatchObject({ status: SweepStatus.COMPLETED, dropped: 2 });
      expect(system.issued()).toEqual(theirs.old);

      await confirm(hold?.holdId ?? "");
      expect(await system.sweep()).toMatchObject({ status: SweepStatus.COMPLETED, dropped: 2 });
      expect(system.issued()).toEqual([...theirs.old, ...mine.old]);
      expect(
        (await decisionsOf(system.pool, "SWEEP_CONFIRMED")).map(({ reason }) => reason),
      ).toEqual(["clock", "clock"]);
    },
  );

  test("T26 a jump while the sweeps are paused is seen all the same", async () => {
    await system.start();
    const { environmentId } = await environmentOf(1, 0);
    await known(environmentId);
    await system.evaluator.client.pauseSweeps({}, as("admin"));
    await setClock("5 hours");
    await waitFor(async () => (await holds()).length === 1);
    await system.evaluator.client.resumeSweeps({}, as("admin"));
    expect(await system.sweep()).toMatchObject({ heldReason: "clock" });
  });

  test("T26 a jump is recorded only once all tenants are known; meanwhile no sweep starts", async () => {
    await system.start();
    const { environmentId } = await environmentOf(1, 0);
    await known(environmentId);
    await system.withoutBroker(async () => {
      await setClock("5 hours");
      const ask = system.evaluator.client.runSweep({ waitSeconds: 2 }, as("admin"));
      expect((await ask).sweep?.status).toBe(SweepStatus.REQUESTED);
      expect(await holds()).toEqual([]);
    });
    await waitFor(async () => (await holds()).length === 1, { timeoutMs: 30_000 });
    expect(await heldDecisions()).toMatchObject([{ reason: "clock", tenant: "local" }]);
    expect(system.issued()).toEqual([]);
  });
});

describe("a dry run", () => {
  test("T25 T26 says what would be held and leaves it out, and writes to no table at all", async () => {
    // Another process holds the scheduler's lease, so nothing but the dry run could write.
    await system.pool.query(
      `insert into lapse_kit.lease (name, holder, token, expires_at)
       values ('scheduler', 'other', 1, now() + interval '1 hour')
       on conflict (name) do update set holder = 'other', expires_at = excluded.expires_at`,
    );
    try {
      await system.start();
      await environmentOf(20, 5);
      const other = await environmentOf(3, 3, "test");
      const tableId = other.old[0] ?? "";
      await system.evaluator.client.getTableExpiry({ tableId, consistent: true });
      await system.pool.query(`insert into lapse_kit.clock_watch values ('sweep', now())`);
      const before = await system.contents();
      const dry = await system.evaluator.client.runSweep({ dryRun: true }, as("admin"));
      expect(dry.sweep).toBeUndefined();
      expect(dry.wouldDrop.map(({ expiry }) => expiry?.tableId)).toEqual(other.old);
      expect(dry.held).toMatchObject([
        { holdId: "", kind: "breaker", environment: "dev", due: 20, tables: 25 },
      ]);
      expect(await system.contents()).toEqual(before);

      await system.pool.query(
        `update lapse_kit.clock_watch set last_seen_at = now() + interval '1 hour'`,
      );
      const jumped = await system.contents();
      const held = await system.evaluator.client.runSweep({ dryRun: true }, as("admin"));
      expect(held.wouldDrop).toEqual([]);
      expect(held.held.map(({ kind }) => kind)).toEqual(["clock", "breaker"]);
      expect(await system.contents()).toEqual(jumped);
    } finally {
      await system.pool.query(`delete from lapse_kit.lease where holder = 'other'`);
    }
  });
});
