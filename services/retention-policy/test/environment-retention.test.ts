import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId, unavailable } from "@lapse/kit";
import type { Environment } from "../src/domain/table.ts";
import { type Lab, openLab } from "./lab/lab.ts";

let lab: Lab;
let environment: Environment;

beforeAll(async () => {
  lab = await openLab("policy-environment");
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.catalog.recover();
  environment = lab.catalog.addEnvironment();
});

/** Sets the environment's retention, or without days turns it off. */
const set = (days?: number, environmentId = environment.id) =>
  lab.people.admin.setEnvironmentRetention({ environmentId, ...(days !== undefined && { days }) });
const get = async (environmentId = environment.id) =>
  (await lab.people.reader.getEnvironmentRetention({ environmentId })).retention;
const settle = (version = lab.catalog.environment(environment.id).policyVersion) =>
  lab.service.settleEnvironmentRetention({
    environmentId: environment.id,
    tenant: "local",
    policyVersion: version,
  });

describe("SetEnvironmentRetention", () => {
  test("T7 sets days, shows them, and turns them off again", async () => {
    expect(await get()).toBeUndefined();
    const first = await set(30);
    expect(first).toMatchObject({ retention: { days: 30, setBy: "admin", policyVersion: 1n } });
    expect(first.previousDays).toBeUndefined();
    expect(await get()).toEqual(first.retention);

    const off = await set();
    expect(off).toMatchObject({ previousDays: 30, retention: { policyVersion: 2n } });
    expect(off.retention?.days).toBeUndefined();
    expect(await get()).toEqual(off.retention);
  });

  test("T32 records the days and those before, empty when off", async () => {
    await set(30);
    await set();
    expect(await lab.decisions(environment.id)).toMatchObject([
      {
        type: "ENVIRONMENT_RETENTION_SET",
        actor: "admin",
        tenant: "local",
        outcome: "DECISION_OUTCOME_DONE",
        resource: { kind: "environment", id: environment.id, name: "dev" },
        details: { days: 30, previous_days: null },
      },
      { type: "ENVIRONMENT_RETENTION_SET", details: { days: null, previous_days: 30 } },
    ]);
    expect((await lab.decisions(environment.id)).map(({ details }) => details)).toEqual([
      { days: 30, previous_days: null },
      { days: null, previous_days: 30 },
    ]);
  });

  test("T8 changes one row and sends one event, however many tables there are", async () => {
    for (let n = 0; n < 50; n++) {
      const { id } = lab.catalog.addTable(environment);
      await lab.people.owner.setTableRetention({
        tableId: id,
        rule: { rule: { case: "days", value: 9 } },
      });
    }
    const events = async () =>
      (await lab.pool.query("select from lapse_kit.outbox where stream = 'POLICY'")).rowCount ?? 0;
    const before = await events();
    await set(30);
    expect((await events()) - before).toBe(1);
    expect(await lab.events(environment.id)).toMatchObject([
      {
        subject: "policy.environment.set",
        message: { environmentId: environment.id, days: 30, setBy: "admin", policyVersion: "1" },
      },
    ]);
  });

  test("says that it is off, by whom, as cleared", async () => {
    await set(30);
    await set();
    expect((await lab.events(environment.id))[1]).toMatchObject({
      subject: "policy.environment.cleared",
      message: { environmentId: environment.id, setBy: "admin", policyVersion: "2" },
    });
  });

  test.each([0, 3_651, -5])("T10 refuses %s days", async (days) => {
    await expect(set(days)).rejects.toMatchObject({ kind: "invalid", reason: "RETENTION_INVALID" });
    expect(lab.catalog.environment(environment.id).policyVersion).toBe(0n);
  });

  test.each(["reader", "writer", "data_engineer", "owner"] as const)(
    "T7 refuses the %s, who may not manage it, and records that",
    async (who) => {
      const call = lab.people[who].setEnvironmentRetention({
        environmentId: environment.id,
        days: 3,
      });
      await expect(call).rejects.toMatchObject({
        kind: "denied",
        reason: "RIGHT_MISSING",
        details: { right: "environment.manage" },
      });
      expect(await lab.decisions(environment.id)).toMatchObject([
        { type: "AUTHORIZATION_DENIED", actor: who },
      ]);
      expect(lab.catalog.environment(environment.id).policyVersion).toBe(0n);
    },
  );

  test("another tenant's environment is not there, nor one that never was", async () => {
    const theirs = lab.catalog.addEnvironment({ tenant: "other" });
    for (const id of [theirs.id, newId()]) {
      await expect(set(30, id)).rejects.toMatchObject({ reason: "ENVIRONMENT_NOT_FOUND" });
      await expect(get(id)).rejects.toMatchObject({ reason: "ENVIRONMENT_NOT_FOUND" });
    }
  });

  test("two at once: who touched first and commits last is ordered anew and wins", async () => {
    lab.catalog.afterTouch = async () => {
      lab.catalog.recover();
      await set(20);
    };
    expect(await set(10)).toMatchObject({ previousDays: 20, retention: { policyVersion: 3n } });
    expect((await get())?.days).toBe(10);
  });

  test("two first settings at once: the second names the first", async () => {
    await Promise.all([10, 20].map((days) => set(days)));
    const details = (await lab.decisions(environment.id)).map(
      ({ details }) => details as { days: number; previous_days: number | null },
    );
    expect(details.map(({ previous_days }) => previous_days)).toEqual([
      null,
      ...details.slice(0, -1).map(({ days }) => days),
    ]);
  });
});

describe("SettleEnvironmentRetention", () => {
  test("after a lost touch the setting in force is stamped, its author and time unchanged", async () => {
    const { retention } = await set(30);
    lab.catalog.afterTouch = async () => {
      throw unavailable("PEER_UNREACHABLE", "the answer to the touch is lost");
    };
    await expect(set(10)).rejects.toMatchObject({ kind: "unavailable" });
    lab.catalog.recover();
    await settle();
    expect(await get()).toEqual({ ...retention, policyVersion: 2n });
    expect((await lab.events(environment.id)).at(-1)).toMatchObject({
      subject: "policy.environment.set",
      message: { days: 30, policyVersion: "2" },
    });
  });

  test("T8 settling gives no table a new period", async () => {
    const { retention } = await set(30);
    await settle(7n);
    expect((await get())?.setAt).toEqual(retention?.setAt);
  });

  test("where nobody ever set one, that is stamped, and shows as none", async () => {
    await settle(4n);
    expect(await get()).toBeUndefined();
    const [event] = await lab.events(environment.id);
    expect(event).toMatchObject({
      subject: "policy.environment.cleared",
      message: { policyVersion: "4" },
    });
    expect(event?.message).not.toHaveProperty("setBy");
  });

  test("a change that still holds an older touch is ordered anew", async () => {
    lab.catalog.afterTouch = async () => {
      lab.catalog.recover();
      await settle();
    };
    expect((await set(10)).retention?.policyVersion).toBe(2n);
  });

  test("settling twice says it once", async () => {
    await settle(4n);
    await settle(4n);
    await settle(3n);
    expect(await lab.events(environment.id)).toHaveLength(1);
  });
});

describe("BatchGetEnvironmentRetentions", () => {
  test("gives those that are set in the caller's tenant", async () => {
    const theirs = lab.catalog.addEnvironment({ tenant: "other" });
    const unset = lab.catalog.addEnvironment();
    await set(30);
    await lab.service.settleEnvironmentRetention({
      environmentId: theirs.id,
      tenant: "other",
      policyVersion: 1n,
    });
    const environmentIds = [environment.id, theirs.id, unset.id];
    const { retentions } = await lab.people.reader.batchGetEnvironmentRetentions({
      environmentIds,
    });
    expect(retentions).toMatchObject([{ environmentId: environment.id, days: 30 }]);
  });

  test("gives a service those of every tenant", async () => {
    const theirs = lab.catalog.addEnvironment({ tenant: "other" });
    const admin = lab.as({ subject: "eve", tenant: "other", roles: ["admin"], kind: "person" });
    await admin.setEnvironmentRetention({ environmentId: theirs.id, days: 5 });
    await set(30);
    const environmentIds = [environment.id, theirs.id];
    const { retentions } = await lab.service.batchGetEnvironmentRetentions({ environmentIds });
    expect(new Set(retentions.map(({ days }) => days))).toEqual(new Set([5, 30]));
    expect(
      (await admin.batchGetEnvironmentRetentions({ environmentIds })).retentions,
    ).toMatchObject([{ days: 5 }]);
  });

  test("takes a thousand at once, and refuses more", async () => {
    const { reader } = lab.people;
    const environmentIds = Array.from({ length: 1_001 }, () => environment.id);
    await expect(reader.batchGetEnvironmentRetentions({ environmentIds })).rejects.toMatchObject({
      reason: "BATCH_TOO_LARGE",
    });
    environmentIds.pop();
    expect((await reader.batchGetEnvironmentRetentions({ environmentIds })).retentions).toEqual([]);
  });
});
