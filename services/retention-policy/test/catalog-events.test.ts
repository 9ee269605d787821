import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { calendarDay } from "@lapse/rules";
import { followRestore, type Restore } from "../src/app/follow-restore.ts";
import { forgetEnvironment, forgetTable } from "../src/app/forget.ts";
import type { Environment, Table } from "../src/domain/table.ts";
import { DAY_MS, type Lab, openLab } from "./lab/lab.ts";

let lab: Lab;
let environment: Environment;
let table: Table;

beforeAll(async () => {
  lab = await openLab("policy-catalog-events");
});
afterAll(() => lab.close());
beforeEach(() => {
  environment = lab.catalog.addEnvironment();
  table = lab.catalog.addTable(environment);
});

const ON = calendarDay(new Date(Date.now() + 5 * DAY_MS));
const ON_MIDNIGHT = new Date(`${ON}T00:00:00.000Z`);
const DAYS = { rule: { case: "days", value: 3 } } as const;

const set = (rule: object) => lab.people.owner.setTableRetention({ tableId: table.id, rule });
const setOn = () => set({ rule: { case: "on", value: ON } });
const stored = async () => (await lab.people.owner.getTableRetention({ tableId: table.id })).table;
const lastEvent = async () => (await lab.events(table.id)).at(-1);

const restore = (change: Partial<Restore> = {}) =>
  followRestore(lab.pool, {
    tableId: table.id,
    tenant: table.tenant,
    environmentId: environment.id,
    name: table.name,
    environment: environment.name,
    restoredAt: new Date(),
    version: 7n,
    actor: "ana",
    traceparent: undefined,
    ...change,
  });

describe("when a table is restored", () => {
  test("T28 a day that had come is removed, and that is recorded with who restored it", async () => {
    await setOn();
    await restore({ restoredAt: ON_MIDNIGHT });
    expect(await stored()).toBeUndefined();
    expect(await lastEvent()).toMatchObject({
      subject: "policy.table.cleared",
      message: { reason: "restored", retentionVersion: "7" },
    });
    expect((await lab.decisions(table.id)).at(-1)).toMatchObject({
      type: "TABLE_RETENTION_CLEARED",
      reason: "restored",
      actor: "ana",
      details: {
        table_id: table.id,
        days: null,
        on: null,
        shortened: false,
        previous: { source: "table", on: ON },
      },
    });
  });

  test("T28 a day still to come is kept and stamped with the restore's version", async () => {
    await setOn();
    await restore({ restoredAt: new Date(ON_MIDNIGHT.getTime() - 1) });
    expect(await stored()).toMatchObject({
      rule: { rule: { case: "on", value: ON } },
      setBy: "owner",
      retentionVersion: 7n,
    });
    expect(await lastEvent()).toMatchObject({
      subject: "policy.table.set",
      message: { rule: { on: ON }, retentionVersion: "7" },
    });
    expect(await lab.decisions(table.id)).toHaveLength(1);
  });

  test("days are kept and stamped likewise", async () => {
    await set(DAYS);
    await restore();
    expect(await stored()).toMatchObject({ rule: DAYS, retentionVersion: 7n });
  });

  test("where there is no rule, that is stamped, so that its environment's makes it expire again", async () => {
    await restore();
    expect(await stored()).toBeUndefined();
    expect(await lastEvent()).toMatchObject({
      subject: "policy.table.cleared",
      message: { reason: "restored", retentionVersion: "7" },
    });
    expect(await lab.decisions(table.id)).toEqual([]);
  });

  test("told twice, it follows once", async () => {
    await setOn();
    await restore({ restoredAt: ON_MIDNIGHT });
    const [events, decisions] = [await lab.events(table.id), await lab.decisions(table.id)];
    await restore({ restoredAt: ON_MIDNIGHT });
    expect(await lab.events(table.id)).toEqual(events);
    expect(await lab.decisions(table.id)).toEqual(decisions);
  });

  test("a rule set since the restore stays when the restore is heard of late", async () => {
    await set(DAYS);
    await restore({ version: 1n });
    expect(await stored()).toMatchObject({ rule: DAYS, retentionVersion: 2n });
  });

  test("T28 a day that had come goes though a sweep has settled the restore's version before", async () => {
    await setOn();
    await lab.service.settleTableRetention({
      tableId: table.id,
      tenant: table.tenant,
      environmentId: environment.id,
      retentionVersion: 7n,
    });
    await restore({ restoredAt: ON_MIDNIGHT });
    expect(await stored()).toBeUndefined();
    expect(await lastEvent()).toMatchObject({
      subject: "policy.table.cleared",
      message: { retentionVersion: "7" },
    });
  });

  test("a restore heard of again after a later one leaves the later one's rule", async () => {
    await setOn();
    await restore({ version: 9n, restoredAt: new Date(ON_MIDNIGHT.getTime() - 1) });
    await restore({ version: 5n, restoredAt: new Date(ON_MIDNIGHT.getTime() - 9) });
    expect(await stored()).toMatchObject({ retentionVersion: 9n });
  });
});

describe("when a table is purged", () => {
  test("its rule is forgotten, and whoever follows rules is told", async () => {
    await set(DAYS);
    await forgetTable(lab.pool, table.id, 9n);
    expect(await stored()).toBeUndefined();
    expect(await lastEvent()).toMatchObject({
      subject: "policy.table.cleared",
      message: { reason: "purged", retentionVersion: "9", environmentId: environment.id },
    });
  });

  test("told twice, or of a table without a rule, nothing is said", async () => {
    await forgetTable(lab.pool, table.id, 9n);
    expect(await lab.events(table.id)).toEqual([]);
    await set(DAYS);
    await forgetTable(lab.pool, table.id, 9n);
    await forgetTable(lab.pool, table.id, 9n);
    expect(await lab.events(table.id)).toHaveLength(2);
  });
});

describe("when an environment is deleted", () => {
  test("its retention is forgotten, and that is told once", async () => {
    const { admin } = lab.people;
    await admin.setEnvironmentRetention({ environmentId: environment.id, days: 30 });
    await forgetEnvironment(lab.pool, environment.id, 5n);
    await forgetEnvironment(lab.pool, environment.id, 5n);
    const found = await admin.getEnvironmentRetention({ environmentId: environment.id });
    expect(found.retention).toBeUndefined();
    const events = await lab.events(environment.id);
    expect(events.map(({ subject }) => subject)).toEqual([
      "policy.environment.set",
      "policy.environment.cleared",
    ]);
    expect(events[1]?.message).toMatchObject({ policyVersion: "5" });
  });
});
