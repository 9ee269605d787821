import { timestampDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, jest, test } from "@jest/globals";
import { newId } from "@lapse/kit";
import { SweepStatus } from "@lapse/proto/evaluator";
import { TableKind, TableState } from "@lapse/proto/events";
import { waitFor } from "@lapse/test-kit";
import { answer } from "./lab/catalog-double.ts";
import { decisionsOf } from "./lab/decisions.ts";
import { as, metricOf } from "./lab/evaluator.ts";
import { daysAgo } from "./lab/publishers.ts";
import { System } from "./lab/system.ts";

jest.setTimeout(60_000);
const system = new System("sweep");
const start: System["start"] = (...given) => system.start(...given);
const sweep = () => system.sweep();
const tables: System["tables"] = (...given) => system.tables(...given);
const issued = () => system.issued();

describe("a sweep", () => {
  test("T24 T25 T32 issues what is due with all it saw, and records what became of it", async () => {
    await start();
    const { environmentId } = await system.publishers.environment({ policyVersion: 1n });
    const [dropped = "", kept = ""] = await tables(environmentId, 2);
    const [young = ""] = await tables(environmentId, 1, 5);
    await system.publishers.environmentRule(environmentId, 30, {
      policyVersion: 7n,
      setAt: daysAgo(200),
    });
    await system.publishers.tableRule(kept, { case: "days", value: 10 }, { retentionVersion: 3n });
    system.verdict = (tableId) => (tableId === kept ? "held" : null);

    const done = await sweep();
    expect(done).toMatchObject({
      status: SweepStatus.COMPLETED,
      requestedBy: "admin@local",
      due: 2,
      dropped: 1,
      kept: { held: 1 },
      failed: 0,
      capped: false,
    });
    expect(done.fence.map(({ stream }) => stream)).toEqual(["ACTIVITY", "CATALOG", "POLICY"]);
    expect(issued()).not.toContain(young);

    const event = system.catalog.due.find(({ tableId }) => tableId === dropped);
    expect(event).toMatchObject({
      tenant: "local",
      environmentId,
      sweepId: done.sweepId,
      changeVersion: 1n,
      retentionVersion: 0n,
      policyVersion: 7n,
      retention: {
        source: "environment",
        rule: { rule: { case: "days", value: 30 } },
        setBy: "ana",
      },
    });
    // T8: used 302 days ago, but the rule was set 200 days ago.
    const expiredAt = event?.retention?.expiredAt && timestampDate(event.retention.expiredAt);
    expect(Math.abs((expiredAt?.getTime() ?? 0) - daysAgo(170).getTime())).toBeLessThan(60_000);
    expect(system.catalog.due.find(({ tableId }) => tableId === kept)?.retentionVersion).toBe(3n);

    const decisions = await decisionsOf(system.pool, "TABLE_DUE");
    expect(decisions).toHaveLength(2);
    expect(decisions.find(({ resource }) => resource?.id === dropped)).toMatchObject({
      tenant: "local",
      actor: "",
      runId: done.sweepId,
      reason: "retention",
      resource: { kind: "table", name: "bronze.t0", environment: "dev" },
      details: { retention: { source: "environment", days: 30, set_by: "ana" } },
    });

    const { outcomes } = await system.evaluator.client.getSweep(
      { sweepId: done.sweepId },
      as("reader"),
    );
    expect(outcomes.map(({ tableId, outcome, reason }) => ({ tableId, outcome, reason }))).toEqual(
      expect.arrayContaining([
        { tableId: dropped, outcome: "dropped", reason: "" },
        { tableId: kept, outcome: "kept", reason: "held" },
      ]),
    );
    expect(await metricOf(system.evaluator, "lapse_sweep_due_total")).toBe(2);
    expect(await metricOf(system.evaluator, "lapse_sweep_dropped_total")).toBe(1);
    expect(await metricOf(system.evaluator, "lapse_sweep_kept_total")).toBe(1);
    const lastSuccess = () =>
      metricOf(system.evaluator, "lapse_sweep_last_success_timestamp_seconds");
    // One tenant's sweep says nothing of the others: only those of all count.
    expect(await lastSuccess()).toBe(0);
    await system.sweepAll();
    expect(await lastSuccess()).toBeGreaterThan(0);
  });

  test("T24 drops at most the cap, the most overdue first, and says that more were due", async () => {
    await start({ LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: "3" });
    const { environmentId } = await system.publishers.environment();
    const all = await tables(environmentId, 5);
    await system.publishers.environmentRule(environmentId, 30);
    expect(await sweep()).toMatchObject({ due: 3, dropped: 3, capped: true });
    expect(issued()).toEqual(all.slice(0, 3));
    expect(await sweep()).toMatchObject({ due: 2, dropped: 2, capped: false });
  });

  test("T24 tables that cannot be dropped neither use up the cap nor starve the rest", async () => {
    await start({
      LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: "10",
      LAPSE_TABLES__MAX_EXPIRY_SHARE: "1",
    });
    const { environmentId } = await system.publishers.environment();
    const head = await tables(environmentId, 150, 320);
    const rest = await tables(environmentId, 12, 300);
    await system.publishers.environmentRule(environmentId, 30);
    const held = new Set(head);
    system.verdict = (tableId) =>
      held.has(tableId) ? (tableId === head[0] ? "failed" : "held") : null;
    expect(await sweep()).toMatchObject({
      due: 160,
      dropped: 10,
      kept: { held: 149 },
      failed: 1,
      capped: true,
    });
    expect(issued()).toHaveLength(160);
    expect(new Set(issued()).size).toBe(160);
    expect(issued().slice(150)).toEqual(rest.slice(0, 10));
  });

  test("T9 a table's own rule wins over its environment's, never included", async () => {
    await start();
    const { environmentId } = await system.publishers.environment();
    const [never = "", later = "", inherits = ""] = await tables(environmentId, 3);
    await system.publishers.environmentRule(environmentId, 30);
    await system.publishers.tableRule(never, { case: "never", value: true });
    await system.publishers.tableRule(later, { case: "days", value: 3_000 });
    await sweep();
    expect(issued()).toEqual([inherits]);
  });

  test("T8 turning an environment's retention on gives tables that were used long ago the full period", async () => {
    await start();
    const { environmentId } = await system.publishers.environment();
    const [tableId = ""] = await tables(environmentId, 1);
    await system.publishers.environmentRule(environmentId, 30, { setAt: daysAgo(1) });
    expect(await sweep()).toMatchObject({ due: 0, dropped: 0 });
    const { expiry } = await system.evaluator.client.getTableExpiry({ tableId, consistent: true });
    const expiresAt = expiry?.expiresAt && timestampDate(expiry.expiresAt);
    expect(Math.abs((expiresAt?.getTime() ?? 0) - daysAgo(-29).getTime())).toBeLessThan(60_000);
  });

  test("T15 a read moves days later and never moves a day of the calendar", async () => {
    await start();
    const { environmentId } = await system.publishers.environment();
    const [byDays = "", byDay = ""] = await tables(environmentId, 2);
    await system.publishers.tableRule(byDays, { case: "days", value: 30 });
    await system.publishers.tableRule(byDay, {
      case: "on",
      value: daysAgo(2).toISOString().slice(0, 10),
    });
    const events = [byDays, byDay].map((tableId) => ({ tableId }));
    await system.publishers.nats.publish(
      "activity.table.read",
      Buffer.from(JSON.stringify({ events })),
      {},
      { msgId: newId() },
    );
    expect(await sweep()).toMatchObject({ due: 1 });
    expect(issued()).toEqual([byDay]);
  });

  test("T19 T20 T22 leaves out protected environments, project assets and what is not a live managed table", async () => {
    await start();
    const safe = await system.publishers.environment({ protected: true, name: "prod" });
    await tables(safe.environmentId, 2);
    await system.publishers.environmentRule(safe.environmentId, 30);
    const { environmentId } = await system.publishers.environment();
    await tables(environmentId, 1, 300, { projectAsset: true });
    await tables(environmentId, 1, 300, { kind: TableKind.VIEW });
    await tables(environmentId, 1, 300, { state: TableState.STAGED });
    await tables(environmentId, 1, 300, { state: TableState.DROPPED });
    await system.publishers.environmentRule(environmentId, 30);
    const [only] = await tables(environmentId, 1);
    await sweep();
    expect(issued()).toEqual([only]);
  });

  test("a table the catalog does not answer for is given up after a while; a late answer still counts", async () => {
    await start({}, { answerTimeoutMs: 1_000 });
    const { environmentId } = await system.publishers.environment();
    await tables(environmentId, 1);
    await system.publishers.environmentRule(environmentId, 30);
    system.verdict = () => "silent";
    const done = await sweep();
    expect(done).toMatchObject({ status: SweepStatus.COMPLETED, due: 1, dropped: 0 });
    const outcome = async () => {
      const found = await system.evaluator.client.getSweep({ sweepId: done.sweepId }, as("reader"));
      return { ...found.outcomes[0], dropped: found.sweep?.dropped };
    };
    expect((await outcome()).outcome).toBe("unanswered");
    const [due] = system.catalog.due;
    if (due) await answer(system.publishers, due, null);
    await waitFor(async () => (await outcome()).dropped === 1);
    expect((await outcome()).outcome).toBe("dropped");
  });

  test("T25 a dry run lists what a sweep would issue, in its order, and issues nothing", async () => {
    await start({ LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: "3" });
    const { environmentId } = await system.publishers.environment();
    const all = await tables(environmentId, 5);
    await system.publishers.environmentRule(environmentId, 30);
    await system.evaluator.client.getTableExpiry({ tableId: all[0] ?? "", consistent: true });
    const { sweep: record, wouldDrop } = await system.evaluator.client.runSweep(
      { dryRun: true },
      as("admin"),
    );
    expect(record).toBeUndefined();
    expect(wouldDrop.map(({ expiry }) => expiry?.tableId)).toEqual(all.slice(0, 3));
    expect(wouldDrop[0]).toMatchObject({ environment: "dev", tenant: "local" });
    expect(issued()).toEqual([]);

    await sweep();
    expect(issued()).toEqual(all.slice(0, 3));
  });

  test("T25 who asks twice with one idempotency key asks for one sweep; who asks while one waits gets that one", async () => {
    await start();
    const ask = (idempotencyKey?: string) =>
      system.evaluator.client.runSweep({ waitSeconds: 30 }, { ...as("admin"), idempotencyKey });
    const first = await ask("k1");
    const again = await ask("k1");
    expect(again.sweep?.sweepId).toBe(first.sweep?.sweepId);
    const other = await ask("k2");
    expect(other.sweep?.sweepId).not.toBe(first.sweep?.sweepId);
  });

  test("T23 the schedule sweeps by itself; an interval of 0 turns it off, and a sweep asked for still runs", async () => {
    await start({ LAPSE_RUN__SWEEP_INTERVAL: "1" });
    const { environmentId } = await system.publishers.environment();
    const [first] = await tables(environmentId, 1);
    await system.publishers.environmentRule(environmentId, 30);
    await waitFor(() => issued().includes(first ?? ""));
    await waitFor(async () => {
      const { sweeps } = await system.evaluator.client.listSweeps({}, as("reader"));
      return (
        sweeps.filter(
          ({ status, requestedBy }) => status === SweepStatus.COMPLETED && requestedBy === "",
        ).length > 2
      );
    });
    await system.stop();

    await start();
    const [second] = await tables(environmentId, 1, 300, { name: "second" });
    const counted = async () =>
      (await system.evaluator.client.listSweeps({ limit: 1_000 }, as("reader"))).sweeps.length;
    const before = await counted();
    const { folds, sweepIntervalSeconds, nextSweepAt } = await waitFor(async () => {
      const status = await system.evaluator.client.getEvaluatorStatus({}, as("reader"));
      return status.scheduler === "" ? undefined : status;
    });
    expect({ sweepIntervalSeconds, nextSweepAt }).toEqual({
      sweepIntervalSeconds: 0,
      nextSweepAt: undefined,
    });
    expect(folds.map(({ brokerReachable }) => brokerReachable)).toEqual([true, true, true]);
    expect(await counted()).toBe(before);
    expect(issued()).not.toContain(second);
    await sweep();
    expect(issued()).toContain(second);
  });
});
