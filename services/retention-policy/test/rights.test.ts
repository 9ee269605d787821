import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Principal, Right, Role } from "@lapse/kit";
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

/** Somebody without a role: what they may do is what the catalog says. */
const ben: Principal = { subject: "ben", tenant: "local", roles: [], kind: "person" };

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

describe("T6 by grants and by roles in the environment, as the catalog answers them", () => {
  const asBen = async (rights: Right[], rule: object, expiresAt: Date | null | undefined) => {
    lab.catalog.changeTable(table.id, { rights: ["table.read", ...rights] });
    lab.evaluator.answer =
      expiresAt === undefined ? null : { lastActivityAt: new Date(), expiresAt };
    return lab.as(ben).setTableRetention({ tableId: table.id, rule });
  };
  const refused = (right: Right) => ({ kind: "denied", details: { right } });

  test("the write right makes it later or never, the drop right sooner or at all", async () => {
    expect((await asBen(["table.write"], days(30), inDays(10))).shortened).toBe(false);
    expect((await asBen(["table.write"], NEVER, inDays(10))).shortened).toBe(false);
    expect((await asBen(["table.drop"], days(3), inDays(10))).shortened).toBe(true);
    expect((await asBen(["table.drop"], days(3), null)).shortened).toBe(true);
  });

  test("the write right makes nothing sooner, the drop right nothing later or never", async () => {
    await expect(asBen(["table.write"], days(3), inDays(10))).rejects.toMatchObject(
      refused("table.drop"),
    );
    await expect(asBen(["table.write"], days(3), null)).rejects.toMatchObject(
      refused("table.drop"),
    );
    await expect(asBen(["table.drop"], days(30), inDays(10))).rejects.toMatchObject(
      refused("table.write"),
    );
    await expect(asBen(["table.drop"], NEVER, inDays(10))).rejects.toMatchObject(
      refused("table.write"),
    );
  });

  test("both rights make it anything, whether or not the evaluator answers", async () => {
    const both: Right[] = ["table.write", "table.drop"];
    expect((await asBen(both, days(3), inDays(10))).shortened).toBe(true);
    expect((await asBen(both, days(30), inDays(10))).shortened).toBe(false);
    expect((await asBen(both, days(3), undefined)).shortened).toBeUndefined();
  });

  test("a right to read sets nothing, and the refusal names who, for want of what", async () => {
    await expect(asBen([], days(3), inDays(10))).rejects.toMatchObject(refused("table.drop"));
    await expect(asBen([], NEVER, inDays(10))).rejects.toMatchObject(refused("table.write"));
    expect(await lab.decisions(table.id)).toMatchObject([
      { type: "AUTHORIZATION_DENIED", actor: "ben", details: { right: "table.drop" } },
      { type: "AUTHORIZATION_DENIED", actor: "ben", details: { right: "table.write" } },
    ]);
    expect(lab.catalog.touched).not.toContain(table.id);
  });

  test.each([
    ["table.write", days(30)],
    ["table.drop", days(3)],
  ] as const)(
    "who has %s alone is told to come back while the evaluator does not answer",
    async (right, rule) => {
      await expect(asBen([right], rule, undefined)).rejects.toMatchObject({
        kind: "unavailable",
        reason: "EVALUATOR_BEHIND",
      });
      expect(lab.catalog.touched).not.toContain(table.id);
      expect(await lab.decisions(table.id)).toEqual([]);
    },
  );

  test("a key is judged like a person", async () => {
    lab.catalog.changeTable(table.id, { rights: ["table.read", "table.write"] });
    lab.evaluator.answer = { lastActivityAt: new Date(), expiresAt: inDays(10) };
    const key = lab.as({ ...ben, subject: "key:1", kind: "key" });
    const call = key.setTableRetention({ tableId: table.id, rule: days(3) });
    await expect(call).rejects.toMatchObject(refused("table.drop"));
    expect(await lab.decisions(table.id)).toMatchObject([{ actor: "key:1" }]);
  });
});

describe("T7 who may set an environment's retention", () => {
  const set = () =>
    lab.as(ben).setEnvironmentRetention({ environmentId: environment.id, days: 30 });

  test("an admin of that environment, by the catalog's answer", async () => {
    environment = lab.catalog.addEnvironment({ rights: ["environment.manage"] });
    expect((await set()).retention).toMatchObject({ days: 30, setBy: "ben" });
  });

  test("not who may do all but manage it", async () => {
    const rights = ["table.read", "table.write", "table.create", "table.drop", "access.manage"];
    environment = lab.catalog.addEnvironment({ rights });
    await expect(set()).rejects.toMatchObject({ kind: "denied", reason: "RIGHT_MISSING" });
    expect(await lab.decisions(environment.id)).toMatchObject([
      {
        type: "AUTHORIZATION_DENIED",
        actor: "ben",
        details: { right: "environment.manage" },
        resource: { kind: "environment", id: environment.id },
      },
    ]);
    expect(lab.catalog.environment(environment.id).policyVersion).toBe(0n);
  });

  test("a list of them shows those in which the caller may see anything", async () => {
    const seen = lab.catalog.addEnvironment({ rights: ["table.read"] });
    const environmentIds = [environment.id, seen.id];
    for (const environmentId of environmentIds) {
      await lab.people.admin.setEnvironmentRetention({ environmentId, days: 9 });
    }
    const { retentions } = await lab.as(ben).batchGetEnvironmentRetentions({ environmentIds });
    expect(retentions.map(({ environmentId }) => environmentId)).toEqual([seen.id]);
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
    const answer = await attempt("writer", NEVER, undefined);
    expect(answer).toMatchObject({ retention: { rule: NEVER }, shortened: false });
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
