import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { unavailable } from "@lapse/kit";
import type { Environment, Table } from "../src/domain/table.ts";
import { DAY_MS, type Lab, openLab } from "./lab/lab.ts";

const days = (value: number) => ({ rule: { case: "days", value } }) as const;
const NEVER = { rule: { case: "never", value: true } } as const;

let lab: Lab;
let environment: Environment;
let table: Table;

beforeAll(async () => {
  lab = await openLab("policy-races");
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.catalog.recover();
  lab.evaluator.answer = { lastActivityAt: null, expiresAt: null };
  environment = lab.catalog.addEnvironment();
  table = lab.catalog.addTable(environment);
});

const set = (rule: object, who: "owner" | "writer" | "admin" = "owner") =>
  lab.people[who].setTableRetention({ tableId: table.id, rule });

/** What the catalog does when a due event carries another version than its own. */
const settle = (version = lab.catalog.table(table.id).retentionVersion) =>
  lab.service.settleTableRetention({
    tableId: table.id,
    tenant: table.tenant,
    environmentId: environment.id,
    retentionVersion: version,
  });

const stored = async () => (await lab.people.reader.getTableRetention({ tableId: table.id })).table;

const lastEvent = async () => (await lab.events(table.id)).at(-1);

/** Runs `other` once, after the next touch and before its caller hears of it. */
function duringNextTouch(other: () => Promise<unknown>): void {
  lab.catalog.afterTouch = async () => {
    lab.catalog.recover();
    await other();
  };
}

describe("two changes of one table at once", () => {
  test("the one that touched first commits last: it is ordered anew, and is in force in the end", async () => {
    duringNextTouch(() => set(days(20)));
    const first = await set(days(10));
    expect(first.retention?.retentionVersion).toBe(4n);
    expect((await stored())?.rule).toMatchObject(days(10));
  });

  test("both are acknowledged, in the order of their versions, and each names the one before", async () => {
    duringNextTouch(() => set(days(20)));
    await set(days(10));
    const decisions = await lab.decisions(table.id);
    expect(decisions).toMatchObject([
      { details: { days: 20, previous: { source: null } } },
      { details: { days: 10, previous: { source: "table", days: 20 } } },
    ]);
  });

  test("who is overtaken twice is told so, and what overtook it stands", async () => {
    lab.catalog.afterTouch = async () => {
      const afterTouch = lab.catalog.afterTouch;
      lab.catalog.afterTouch = async () => {};
      await set(days(20));
      lab.catalog.afterTouch = afterTouch;
    };
    await expect(set(days(10))).rejects.toMatchObject({
      kind: "conflict",
      reason: "RETENTION_CHANGED_MEANWHILE",
    });
    expect((await stored())?.rule).toMatchObject(days(20));
  });

  test("many at once leave the one with the highest version in force", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => set(days(n + 1))),
    );
    const acknowledged = outcomes.flatMap((outcome) =>
      outcome.status === "fulfilled" ? [outcome.value.retention] : [],
    );
    const newest = acknowledged.reduce((a, b) =>
      (a?.retentionVersion ?? 0n) > (b?.retentionVersion ?? 0n) ? a : b,
    );
    expect(await stored()).toEqual(newest);
    const versions = (await lab.events(table.id)).map(({ message }) =>
      Number(message.retentionVersion),
    );
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
  });

  test("T6 a writer's later is judged anew when the owner says never meanwhile", async () => {
    await set(days(10));
    lab.evaluator.answer = {
      lastActivityAt: new Date(),
      expiresAt: new Date(Date.now() + 10 * DAY_MS),
    };
    duringNextTouch(async () => {
      await set(NEVER);
      lab.evaluator.answer = { lastActivityAt: new Date(), expiresAt: null };
    });
    await expect(set(days(60), "writer")).rejects.toMatchObject({ kind: "denied" });
    expect((await stored())?.rule).toMatchObject(NEVER);
  });

  test("T6 T20 a writer's rule is judged anew when its table is no asset of a project any more", async () => {
    await set(NEVER);
    lab.catalog.changeTable(table.id, { projectAsset: true });
    lab.catalog.beforeTouch = async () => {
      lab.catalog.recover();
      lab.catalog.changeTable(table.id, { projectAsset: false });
    };
    await expect(set(days(60), "writer")).rejects.toMatchObject({ kind: "denied" });
    expect((await stored())?.rule).toMatchObject(NEVER);
  });

  test("T6 a writer's later is judged anew when the environment's retention changes meanwhile", async () => {
    const { admin } = lab.people;
    await admin.setEnvironmentRetention({ environmentId: environment.id, days: 10 });
    lab.evaluator.answer = {
      lastActivityAt: new Date(),
      expiresAt: new Date(Date.now() + 10 * DAY_MS),
    };
    duringNextTouch(async () => {
      await admin.setEnvironmentRetention({ environmentId: environment.id });
      lab.evaluator.answer = { lastActivityAt: new Date(), expiresAt: null };
    });
    await expect(set(days(60), "writer")).rejects.toMatchObject({ kind: "denied" });
    expect(await stored()).toBeUndefined();
  });
});

describe("a change and its settlement", () => {
  test("settled between touch and commit, the change is ordered anew and wins", async () => {
    await set(days(10));
    duringNextTouch(() => settle());
    const { retention } = await set(days(20));
    expect(retention?.retentionVersion).toBe(4n);
    expect((await stored())?.rule).toMatchObject(days(20));
  });

  test("committed before it is settled, the change stands and nothing is said again", async () => {
    await set(days(10));
    const events = await lab.events(table.id);
    await settle();
    expect(await lab.events(table.id)).toEqual(events);
    expect((await stored())?.rule).toMatchObject(days(10));
  });

  test("the service dies between touch and commit: the rule before is stamped, and the table can expire again", async () => {
    await set(days(10));
    lab.catalog.afterTouch = async () => {
      throw unavailable("SHUTTING_DOWN", "nobody is left to hear of the touch");
    };
    await expect(set(days(20))).rejects.toMatchObject({ kind: "unavailable" });
    lab.catalog.recover();
    const { retentionVersion } = lab.catalog.table(table.id);
    expect((await stored())?.retentionVersion).toBe(retentionVersion - 1n);

    await settle();
    expect(await stored()).toMatchObject({ rule: days(10), setBy: "owner", retentionVersion });
    expect(await lastEvent()).toMatchObject({
      subject: "policy.table.set",
      message: { rule: { days: 10 }, retentionVersion: String(retentionVersion) },
    });
  });

  test("the commit fails after the touch: rule, event and decision are undone together, and it settles likewise", async () => {
    await set(days(10));
    await lab.pool.query(
      `create function fail() returns trigger language plpgsql as $$ begin raise 'disk full'; end $$;
       create constraint trigger fail after update on table_retention
         deferrable initially deferred for each row execute function fail()`,
    );
    await expect(set(days(20))).rejects.toMatchObject({ kind: "internal" });
    await lab.pool.query("drop function fail cascade");
    expect((await stored())?.rule).toMatchObject(days(10));
    expect(await lab.events(table.id)).toHaveLength(1);
    expect(await lab.decisions(table.id)).toHaveLength(1);

    await settle();
    const { retentionVersion } = lab.catalog.table(table.id);
    expect(await stored()).toMatchObject({ rule: days(10), retentionVersion });
  });

  test("the absence of a rule is stamped likewise, as cleared", async () => {
    lab.catalog.afterTouch = async () => {
      throw unavailable("PEER_UNREACHABLE", "the answer to the touch is lost");
    };
    await expect(set(days(20))).rejects.toMatchObject({ kind: "unavailable" });
    await settle();
    expect(await stored()).toBeUndefined();
    expect(await lastEvent()).toMatchObject({
      subject: "policy.table.cleared",
      message: { reason: "settled", retentionVersion: "2", environmentId: environment.id },
    });
  });

  test("settling is no decision", async () => {
    await settle(5n);
    expect(await lab.decisions(table.id)).toEqual([]);
  });

  test("an old settlement that arrives late changes nothing", async () => {
    await set(days(10));
    await settle(1n);
    expect((await stored())?.retentionVersion).toBe(2n);
    expect(await lab.events(table.id)).toHaveLength(1);
  });
});

describe("the catalog", () => {
  test("away before the touch: the call is unavailable and nothing has changed", async () => {
    lab.catalog.away = true;
    await expect(set(days(20))).rejects.toMatchObject({ kind: "unavailable" });
    lab.catalog.recover();
    expect(await stored()).toBeUndefined();
    expect(lab.catalog.table(table.id).retentionVersion).toBe(0n);
  });

  test("away between look and touch: likewise", async () => {
    lab.catalog.beforeTouch = async () => {
      lab.catalog.away = true;
    };
    await expect(set(days(20))).rejects.toMatchObject({ kind: "unavailable" });
    lab.catalog.recover();
    expect(lab.catalog.table(table.id).retentionVersion).toBe(0n);
  });

  test("repeating the call after a lost answer sets the rule", async () => {
    duringNextTouch(async () => {
      throw unavailable("PEER_UNREACHABLE", "the answer to the touch is lost");
    });
    await expect(set(days(20))).rejects.toMatchObject({ kind: "unavailable" });
    const { retention } = await set(days(20));
    expect(retention?.retentionVersion).toBe(3n);
  });
});

describe("settling", () => {
  test.each(["admin", "superadmin", "owner"] as const)(
    "is refused to the %s, and recorded",
    async (who) => {
      const request = {
        tableId: table.id,
        tenant: "local",
        environmentId: environment.id,
        retentionVersion: 9n,
      };
      await expect(lab.people[who].settleTableRetention(request)).rejects.toMatchObject({
        kind: "denied",
      });
      const environmentRequest = {
        environmentId: environment.id,
        tenant: "local",
        policyVersion: 9n,
      };
      await expect(
        lab.people[who].settleEnvironmentRetention(environmentRequest),
      ).rejects.toMatchObject({ kind: "denied" });
      expect(await lab.decisions(table.id)).toMatchObject([{ type: "AUTHORIZATION_DENIED" }]);
      expect(await lab.events(table.id)).toEqual([]);
    },
  );

  test.each([0n, 2n ** 63n])("with version %s is refused as invalid", async (version) => {
    await expect(settle(version)).rejects.toMatchObject({ reason: "VERSION_INVALID" });
  });
});
