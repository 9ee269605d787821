import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { calendarDay } from "@lapse/rules";
import type { Environment, Table } from "../src/domain/table.ts";
import { DAY_MS, type Lab, openLab } from "./lab/lab.ts";

const days = (value: number) => ({ rule: { case: "days", value } }) as const;
const on = (value: string) => ({ rule: { case: "on", value } }) as const;
const NEVER = { rule: { case: "never", value: true } } as const;
const NEXT_MONTH = calendarDay(new Date(Date.now() + 30 * DAY_MS));

let lab: Lab;
let environment: Environment;
let table: Table;

beforeAll(async () => {
  lab = await openLab("policy-set-table");
});
afterAll(() => lab.close());
beforeEach(() => {
  environment = lab.catalog.addEnvironment();
  table = lab.catalog.addTable(environment);
  lab.catalog.recover();
  lab.evaluator.answer = { lastActivityAt: null, expiresAt: null };
});

const get = async (tableId = table.id) => lab.people.reader.getTableRetention({ tableId });

describe("SetTableRetention", () => {
  test("T3 T4 sets days, counted from the touch, which is activity (T5)", async () => {
    const { owner } = lab.people;
    const answer = await owner.setTableRetention({ tableId: table.id, rule: days(3) });
    const { lastChangedAt, retentionVersion } = lab.catalog.table(table.id);
    expect(retentionVersion).toBe(2n);
    expect(answer).toMatchObject({
      retention: { tableId: table.id, rule: days(3), setBy: "owner", retentionVersion: 2n },
      shortened: true,
    });
    const { lastActivityAt, expiresAt } = answer;
    expect(lastActivityAt && timestampDate(lastActivityAt)).toEqual(lastChangedAt);
    expect(expiresAt && timestampDate(expiresAt)).toEqual(
      new Date(lastChangedAt.getTime() + 3 * DAY_MS),
    );
    expect((await get()).table).toEqual(answer.retention);
  });

  test("T4 sets a day, from its midnight in UTC", async () => {
    const { owner } = lab.people;
    const { expiresAt } = await owner.setTableRetention({
      tableId: table.id,
      rule: on(NEXT_MONTH),
    });
    expect(expiresAt && timestampDate(expiresAt)).toEqual(new Date(`${NEXT_MONTH}T00:00:00Z`));
    expect((await get()).table?.rule).toMatchObject(on(NEXT_MONTH));
  });

  test("T4 sets never, which never expires", async () => {
    const { owner } = lab.people;
    const answer = await owner.setTableRetention({ tableId: table.id, rule: NEVER });
    expect(answer.expiresAt).toBeUndefined();
    expect(answer).toMatchObject({ retention: { rule: NEVER }, shortened: false });
  });

  test("T32 records who set what instead of what, and whether that is sooner", async () => {
    const { owner } = lab.people;
    const before = new Date(Date.now() + 9 * DAY_MS);
    await owner.setTableRetention({ tableId: table.id, rule: days(9) });
    lab.evaluator.answer = { lastActivityAt: new Date(0), expiresAt: before };
    const { expiresAt } = await owner.setTableRetention({ tableId: table.id, rule: days(3) });
    const [, second] = await lab.decisions(table.id);
    expect(second).toMatchObject({
      type: "TABLE_RETENTION_SET",
      service: "retention-policy",
      tenant: "local",
      actor: "owner",
      outcome: "DECISION_OUTCOME_DONE",
      resource: { kind: "table", id: table.id, name: "bronze.trial", environment: "dev" },
      details: {
        table_id: table.id,
        days: 3,
        on: null,
        shortened: true,
        previous: {
          source: "table",
          days: 9,
          on: null,
          never: false,
          expires_at: before.toISOString(),
        },
        expires_at: expiresAt && timestampDate(expiresAt).toISOString(),
      },
    });
  });

  test("T32 records never as cleared, and a day as set", async () => {
    const { owner } = lab.people;
    await owner.setTableRetention({ tableId: table.id, rule: on(NEXT_MONTH) });
    await owner.setTableRetention({ tableId: table.id, rule: NEVER });
    const decisions = await lab.decisions(table.id);
    expect(decisions).toMatchObject([
      {
        type: "TABLE_RETENTION_SET",
        details: { days: null, on: NEXT_MONTH, previous: { source: null, never: false } },
      },
      {
        type: "TABLE_RETENTION_CLEARED",
        details: {
          days: null,
          on: null,
          shortened: false,
          expires_at: null,
          previous: { source: "table", on: NEXT_MONTH },
        },
      },
    ]);
  });

  test("T9 T32 names the environment's rule as the one before", async () => {
    await lab.people.admin.setEnvironmentRetention({ environmentId: environment.id, days: 30 });
    await lab.people.owner.setTableRetention({ tableId: table.id, rule: NEVER });
    expect(await lab.decisions(table.id)).toMatchObject([
      { details: { previous: { source: "environment", days: 30 } } },
    ]);
  });

  test("T32 records these fields and no others, whichever the rule", async () => {
    const { owner } = lab.people;
    const before = new Date(Date.now() + 9 * DAY_MS);
    lab.evaluator.answer = { lastActivityAt: new Date(0), expiresAt: before };
    const rules = [days(3), on(NEXT_MONTH), NEVER];
    const expiries: (string | null)[] = [];
    for (const rule of rules) {
      const { expiresAt } = await owner.setTableRetention({ tableId: table.id, rule });
      expiries.push(expiresAt ? timestampDate(expiresAt).toISOString() : null);
    }
    const none = { source: null, days: null, on: null, never: false };
    const was = { expires_at: before.toISOString() };
    const about = { table_id: table.id, days: null, on: null };
    expect((await lab.decisions(table.id)).map(({ details }) => details)).toEqual([
      {
        ...about,
        days: 3,
        shortened: true,
        previous: { ...none, ...was },
        expires_at: expiries[0],
      },
      {
        ...about,
        on: NEXT_MONTH,
        shortened: false,
        previous: { ...none, source: "table", days: 3, ...was },
        expires_at: expiries[1],
      },
      {
        ...about,
        shortened: false,
        previous: { ...none, source: "table", on: NEXT_MONTH, ...was },
        expires_at: null,
      },
    ]);
  });

  test("T28 does not name a day that a restore made void as the one before", async () => {
    await lab.people.owner.setTableRetention({ tableId: table.id, rule: on(NEXT_MONTH) });
    lab.catalog.changeTable(table.id, { restoredAt: new Date(`${NEXT_MONTH}T00:00:00Z`) });
    await lab.people.owner.setTableRetention({ tableId: table.id, rule: days(3) });
    expect((await lab.decisions(table.id))[1]).toMatchObject({
      details: { previous: { source: null, on: null } },
    });
  });

  test("says what it stored on the policy stream, in the same transaction", async () => {
    const { owner } = lab.people;
    const { retention } = await owner.setTableRetention({ tableId: table.id, rule: days(3) });
    expect(await lab.events(table.id)).toMatchObject([
      {
        subject: "policy.table.set",
        message: {
          tableId: table.id,
          tenant: "local",
          environmentId: environment.id,
          rule: { days: 3 },
          setBy: "owner",
          retentionVersion: String(retention?.retentionVersion),
        },
      },
    ]);
  });

  test("T14 a read dated ahead of the touch moves the expiry", async () => {
    const ahead = new Date(Date.now() + 4 * 60_000);
    lab.evaluator.answer = { lastActivityAt: ahead, expiresAt: null };
    const answer = await lab.people.owner.setTableRetention({ tableId: table.id, rule: days(1) });
    const { lastActivityAt, expiresAt } = answer;
    expect(lastActivityAt && timestampDate(lastActivityAt)).toEqual(ahead);
    expect(expiresAt && timestampDate(expiresAt)).toEqual(new Date(ahead.getTime() + DAY_MS));
  });

  test("sets the retention of a staged table, before its first commit", async () => {
    const staged = lab.catalog.addTable(environment, { state: "staged" });
    const asked = lab.evaluator.asked.length;
    const answer = await lab.people.owner.setTableRetention({ tableId: staged.id, rule: days(7) });
    expect(answer.shortened).toBe(true);
    expect((await get(staged.id)).table?.rule).toMatchObject(days(7));
    // The evaluator has not heard of it and would be waited for in vain.
    expect(lab.evaluator.asked).toHaveLength(asked);
  });

  test("asks for the former expiry with at least the versions that it knows", async () => {
    await lab.people.admin.setEnvironmentRetention({ environmentId: environment.id, days: 30 });
    await lab.people.owner.setTableRetention({ tableId: table.id, rule: days(7) });
    await lab.people.owner.setTableRetention({ tableId: table.id, rule: days(8) });
    expect(lab.evaluator.asked.at(-1)).toEqual({
      tableId: table.id,
      atLeast: { changeVersion: 2n, retentionVersion: 2n, policyVersion: 1n },
    });
  });
});

describe("SetTableRetention refuses", () => {
  const refused = (rule: object, tableId = table.id) =>
    lab.people.owner.setTableRetention({ tableId, rule });

  test.each([
    ["nothing", {}, "none"],
    ["0 days", days(0), "1 to 3650"],
    ["3651 days", days(3_651), "1 to 3650"],
    ["negative days", days(-1), "1 to 3650"],
    ["never: false", { rule: { case: "never", value: false } }, "only true"],
    ["today", on(calendarDay(new Date())), "drop it instead"],
    ["a day long gone", on("2020-01-01"), "drop it instead"],
    ["a duration for a date", on("7d"), "duration"],
    ["no such day", on("2999-02-30"), "calendar"],
    ["text for a date", on("soon"), "YYYY-MM-DD"],
  ])("T3 T10 %s", async (_what, rule, advice) => {
    await expect(refused(rule)).rejects.toMatchObject({
      kind: "invalid",
      reason: "RETENTION_INVALID",
      message: expect.stringContaining(advice),
    });
    expect(lab.catalog.table(table.id).retentionVersion).toBe(0n);
  });

  test.each([days(3), on(NEXT_MONTH)])("T19 %j in a protected environment", async (rule) => {
    const kept = lab.catalog.addTable(environment, { environmentProtected: true });
    await expect(refused(rule, kept.id)).rejects.toMatchObject({
      kind: "precondition",
      reason: "ENVIRONMENT_PROTECTED",
    });
    expect(lab.catalog.touched).not.toContain(kept.id);
  });

  test("T19 not: never in a protected environment", async () => {
    const kept = lab.catalog.addTable(environment, { environmentProtected: true });
    const answer = await lab.people.owner.setTableRetention({ tableId: kept.id, rule: NEVER });
    expect(answer.retention?.rule).toMatchObject(NEVER);
  });

  test("T19 days where the environment was protected between the look and the touch", async () => {
    lab.catalog.beforeTouch = async (id) => {
      lab.catalog.changeTable(id, { environmentProtected: true });
    };
    await expect(refused(days(3))).rejects.toMatchObject({ reason: "ENVIRONMENT_PROTECTED" });
    expect((await get()).table).toBeUndefined();
  });

  test.each(["view", "external", "artifact"] as const)(
    "T22 every rule on kind %s",
    async (kind) => {
      const other = lab.catalog.addTable(environment, { kind });
      for (const rule of [days(3), on(NEXT_MONTH), NEVER]) {
        await expect(refused(rule, other.id)).rejects.toMatchObject({
          kind: "precondition",
          reason: "NOT_MANAGED",
        });
      }
    },
  );

  test.each(["dropped", "purging", "purged"] as const)("a %s table as not there", async (state) => {
    const gone = lab.catalog.addTable(environment, { state });
    await expect(refused(days(3), gone.id)).rejects.toMatchObject({
      kind: "not_found",
      reason: "TABLE_NOT_FOUND",
    });
  });

  test("another tenant's table as not there", async () => {
    const theirs = lab.catalog.addTable(lab.catalog.addEnvironment({ tenant: "other" }));
    await expect(refused(days(3), theirs.id)).rejects.toMatchObject({ reason: "TABLE_NOT_FOUND" });
    await expect(get(theirs.id)).rejects.toMatchObject({ reason: "TABLE_NOT_FOUND" });
  });

  test("an id that is none", async () => {
    await expect(refused(days(3), "7")).rejects.toMatchObject({ reason: "ID_INVALID" });
  });
});
