import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Role } from "@lapse/kit";
import type { Environment, Table } from "../src/domain/table.ts";
import { DAY_MS, type Lab, openLab } from "./lab/lab.ts";

const days = (value: number) => ({ rule: { case: "days", value } }) as const;
const NEVER = { rule: { case: "never", value: true } } as const;

let lab: Lab;
let environment: Environment;
let table: Table;

beforeAll(async () => {
  lab = await openLab("policy-rights");
});
afterAll(() => lab.close());
beforeEach(() => {
  environment = lab.catalog.addEnvironment();
  table = lab.catalog.addTable(environment);
});

const inDays = (n: number) => new Date(Date.now() + n * DAY_MS);

/** Sets a rule as somebody, on a table that expires in ten days (or, null, not at all; undefined: nobody knows). */
async function attempt(who: Role | "owner", rule: object, expiresAt: Date | null | undefined) {
  lab.evaluator.answer = expiresAt === undefined ? null : { lastActivityAt: new Date(), expiresAt };
  return lab.people[who].setTableRetention({ tableId: table.id, rule });
}

describe("T6 who may set a table's retention", () => {
  const SOONER = days(3);
  const LATER = days(30);

  test.each(["owner", "data_engineer", "admin", "superadmin"] as const)(
    "the %s may make it sooner, at all, later and never",
    async (who) => {
      expect((await attempt(who, SOONER, inDays(10))).shortened).toBe(true);
      expect((await attempt(who, SOONER, null)).shortened).toBe(true);
      expect((await attempt(who, LATER, inDays(10))).shortened).toBe(false);
      expect((await attempt(who, NEVER, inDays(10))).shortened).toBe(false);
    },
  );

  test("a writer may make it later or never, and set what it has", async () => {
    expect((await attempt("writer", LATER, inDays(10))).shortened).toBe(false);
    expect((await attempt("writer", NEVER, inDays(10))).shortened).toBe(false);
    expect((await attempt("writer", NEVER, null)).shortened).toBe(false);
    expect((await attempt("writer", days(10), inDays(10))).shortened).toBe(false);
  });

  test.each([
    ["sooner", inDays(10)],
    ["expire where it would not", null],
  ])("a writer may not make it %s", async (_what, expiresAt) => {
    await expect(attempt("writer", SOONER, expiresAt)).rejects.toMatchObject({
      kind: "denied",
      reason: "RIGHT_MISSING",
      details: { right: "table.drop" },
    });
  });

  test("a reader may set nothing, not even never, and nobody is asked when it expires", async () => {
    const asked = lab.evaluator.asked.length;
    for (const rule of [SOONER, LATER, NEVER]) {
      await expect(attempt("reader", rule, inDays(10))).rejects.toMatchObject({ kind: "denied" });
    }
    expect(lab.evaluator.asked.length).toBe(asked);
  });

  test("a refused call is no activity: the table is not touched", async () => {
    await expect(attempt("writer", SOONER, inDays(10))).rejects.toMatchObject({ kind: "denied" });
    expect(lab.catalog.table(table.id).retentionVersion).toBe(0n);
  });

  test("T32 a refusal is recorded, by whom and for want of which right", async () => {
    await expect(attempt("writer", SOONER, inDays(10))).rejects.toMatchObject({ kind: "denied" });
    expect(await lab.decisions(table.id)).toMatchObject([
      {
        type: "AUTHORIZATION_DENIED",
        actor: "writer",
        outcome: "DECISION_OUTCOME_REFUSED",
        resource: { kind: "table", id: table.id, name: "bronze.trial", environment: "dev" },
        details: {
          right: "table.drop",
          method: "lapse.policy.v1.RetentionPolicyService/SetTableRetention",
        },
      },
    ]);
  });

  test("the owner of one table is nobody special for another", async () => {
    const other = lab.catalog.addTable(environment, { owner: "somebody" });
    const call = lab.people.owner.setTableRetention({ tableId: other.id, rule: NEVER });
    await expect(call).rejects.toMatchObject({ kind: "denied" });
  });

  test("T15 a read that moved the expiry counts: what is sooner is judged by it", async () => {
    lab.evaluator.answer = { lastActivityAt: inDays(-1), expiresAt: inDays(29) };
    const call = lab.people.writer.setTableRetention({ tableId: table.id, rule: days(20) });
    await expect(call).rejects.toMatchObject({ kind: "denied" });
  });

  test("T20 a project asset does not expire before or after, so a writer may set days", async () => {
    lab.catalog.changeTable(table.id, { projectAsset: true });
    expect((await attempt("writer", SOONER, null)).shortened).toBe(false);
  });
});

describe("T6 while the evaluator does not answer", () => {
  test.each(["owner", "data_engineer", "admin"] as const)(
    "the %s goes on, and whether it is sooner stays open",
    async (who) => {
      const answer = await attempt(who, days(3), undefined);
      expect(answer.shortened).toBeUndefined();
      const [decision] = await lab.decisions(table.id);
      expect(decision).toMatchObject({ details: { shortened: null, previous: { source: null } } });
      expect(decision).not.toHaveProperty("details.previous.expires_at");
    },
  );

  test("a writer may still say never, which makes nothing sooner", async () => {
    expect((await attempt("writer", NEVER, undefined)).retention?.rule).toMatchObject(NEVER);
  });

  test("a writer is told to come back, and nothing is touched or recorded", async () => {
    await expect(attempt("writer", days(30), undefined)).rejects.toMatchObject({
      kind: "unavailable",
      reason: "EVALUATOR_BEHIND",
    });
    expect(lab.catalog.table(table.id).retentionVersion).toBe(0n);
    expect(await lab.decisions(table.id)).toEqual([]);
  });

  test("a reader is refused all the same", async () => {
    await expect(attempt("reader", days(30), undefined)).rejects.toMatchObject({ kind: "denied" });
  });
});
