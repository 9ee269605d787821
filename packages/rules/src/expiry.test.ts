import { describe, expect, test } from "@jest/globals";
import { dayLength, REAL_DAY } from "./day.ts";
import { type ExpiryFacts, expiresSoon, expiryOf, isDue } from "./expiry.ts";
import type { TableRetention, TableRule } from "./retention.ts";

const at = (text: string): Date => new Date(text);

const BARE: ExpiryFacts = {
  kind: "managed",
  lastActivityAt: at("2026-11-10T08:30:00.250Z"),
  restoredAt: null,
  tableRule: null,
  environmentRule: null,
  environmentProtected: false,
  projectAsset: false,
  dayLength: REAL_DAY,
};
const NO_RULE = {
  source: null,
  days: null,
  on: null,
  never: false,
  setBy: null,
  setAt: null,
  expiresAt: null,
  kept: null,
};
const RULE_SET_AT = at("2026-11-09T00:00:00.000Z");
const ENVIRONMENT = { days: 30, setBy: "ops", setAt: at("2026-11-20T00:00:00.000Z") };

function own(rule: TableRule): TableRetention {
  return { ...rule, setBy: "ada", setAt: RULE_SET_AT };
}

describe("expiryOf", () => {
  test("T2 a table without a rule anywhere does not expire", () => {
    expect(expiryOf(BARE)).toEqual(NO_RULE);
  });

  test("T4 days: that many days after the last activity", () => {
    expect(expiryOf({ ...BARE, tableRule: own({ kind: "days", days: 3 }) })).toEqual({
      source: "table",
      days: 3,
      on: null,
      never: false,
      setBy: "ada",
      setAt: RULE_SET_AT,
      expiresAt: at("2026-11-13T08:30:00.250Z"),
      kept: null,
    });
  });

  test("T4 on: from midnight UTC of that day", () => {
    expect(expiryOf({ ...BARE, tableRule: own({ kind: "on", on: "2026-12-31" }) })).toEqual({
      source: "table",
      days: null,
      on: "2026-12-31",
      never: false,
      setBy: "ada",
      setAt: RULE_SET_AT,
      expiresAt: at("2026-12-31T00:00:00.000Z"),
      kept: null,
    });
  });

  test("T9 never: never, though the environment's rule would expire it", () => {
    const table = { ...BARE, environmentRule: ENVIRONMENT, tableRule: own({ kind: "never" }) };
    expect(expiryOf(table)).toEqual({
      ...NO_RULE,
      source: "table",
      never: true,
      setBy: "ada",
      setAt: RULE_SET_AT,
    });
    expect(expiryOf({ ...table, tableRule: null }).expiresAt).not.toBeNull();
  });

  test("T8 environment: from the day its rule was set for a table untouched since", () => {
    expect(expiryOf({ ...BARE, environmentRule: ENVIRONMENT })).toEqual({
      source: "environment",
      days: 30,
      on: null,
      never: false,
      setBy: "ops",
      setAt: ENVIRONMENT.setAt,
      expiresAt: at("2026-12-20T00:00:00.000Z"),
      kept: null,
    });
  });

  test("T8 environment: a table long unused is not due when the rule is set, as it is by its own days", () => {
    const unused = { ...BARE, lastActivityAt: at("2020-01-01T00:00:00.000Z") };
    const byEnvironment = expiryOf({ ...unused, environmentRule: ENVIRONMENT });
    const byItself = expiryOf({ ...unused, tableRule: own({ kind: "days", days: 30 }) });
    expect(isDue(byEnvironment, ENVIRONMENT.setAt)).toBe(false);
    expect(isDue(byItself, ENVIRONMENT.setAt)).toBe(true);
  });

  test("T8 environment: from the last activity once that is later", () => {
    const used = {
      ...BARE,
      environmentRule: ENVIRONMENT,
      lastActivityAt: at("2026-11-25T00:00:00Z"),
    };
    expect(expiryOf(used).expiresAt).toEqual(at("2026-12-25T00:00:00.000Z"));
  });

  test("a retention day may be shorter than a real one, a calendar day never is", () => {
    const short = { ...BARE, dayLength: dayLength(2) };
    expect(expiryOf({ ...short, tableRule: own({ kind: "days", days: 3 }) }).expiresAt).toEqual(
      at("2026-11-10T08:30:06.250Z"),
    );
    expect(expiryOf({ ...short, environmentRule: ENVIRONMENT }).expiresAt).toEqual(
      at("2026-11-20T00:01:00.000Z"),
    );
    expect(
      expiryOf({ ...short, tableRule: own({ kind: "on", on: "2026-12-31" }) }).expiresAt,
    ).toEqual(at("2026-12-31T00:00:00.000Z"));
  });

  test.each([
    ["T19", "protected", { environmentProtected: true }],
    ["T20", "project_asset", { projectAsset: true }],
    ["T19 before T20:", "protected", { environmentProtected: true, projectAsset: true }],
  ])("%s a table with a rule is kept: %s", (_number, kept, cause) => {
    const rules: readonly Partial<ExpiryFacts>[] = [
      { tableRule: own({ kind: "days", days: 3 }) },
      { tableRule: own({ kind: "on", on: "2026-12-31" }) },
      { environmentRule: ENVIRONMENT },
    ];
    for (const rule of rules) {
      const free = expiryOf({ ...BARE, ...rule });
      expect(free.expiresAt).not.toBeNull();
      expect(expiryOf({ ...BARE, ...rule, ...cause })).toEqual({ ...free, expiresAt: null, kept });
    }
  });

  test("T2 nothing is kept from an expiry that no rule asks for", () => {
    const safe = { ...BARE, environmentProtected: true, projectAsset: true };
    expect(expiryOf(safe).kept).toBeNull();
    expect(expiryOf({ ...safe, tableRule: own({ kind: "never" }) }).kept).toBeNull();
    const view = { ...safe, kind: "view" as const, environmentRule: ENVIRONMENT };
    expect(expiryOf(view)).toEqual(NO_RULE);
  });

  test("T28 a table restored after its `on` day falls back to its environment's rule", () => {
    const restoredAt = at("2027-01-10T00:00:00.000Z");
    const restored = {
      ...BARE,
      tableRule: own({ kind: "on", on: "2026-12-31" }),
      lastActivityAt: restoredAt,
    };
    expect(isDue(expiryOf({ ...restored, restoredAt: null }), restoredAt)).toBe(true);
    expect(expiryOf({ ...restored, restoredAt })).toEqual(NO_RULE);
    expect(expiryOf({ ...restored, restoredAt, environmentRule: ENVIRONMENT })).toMatchObject({
      source: "environment",
      expiresAt: at("2027-02-09T00:00:00.000Z"),
    });
  });

  test("an expiry past the last instant of a Date is that instant, so the table stays", () => {
    const last = at("+275760-09-13T00:00:00.000Z");
    const table = { ...BARE, tableRule: own({ kind: "days", days: 1 }), lastActivityAt: last };
    expect(expiryOf(table).expiresAt).toEqual(last);
  });

  test.each<[string, Partial<ExpiryFacts>]>([
    ["an invalid activity", { lastActivityAt: at("unreadable") }],
    ["days below the bounds", { tableRule: own({ kind: "days", days: 0 }) }],
    ["days that are no number", { tableRule: own({ kind: "days", days: Number.NaN }) }],
    ["a day that does not exist", { tableRule: own({ kind: "on", on: "2026-02-30" }) }],
  ])("T10 refuses to guess an expiry from %s", (_damage, damage) => {
    const table = { ...BARE, tableRule: own({ kind: "days", days: 3 }), ...damage };
    expect(() => expiryOf(table)).toThrow(RangeError);
  });
});

describe("isDue", () => {
  const expiry = { expiresAt: at("2026-12-31T00:00:00.000Z") };

  test.each([
    ["2026-12-30T23:59:59.999Z", false],
    ["2026-12-31T00:00:00.000Z", true],
    ["2027-06-01T00:00:00.000Z", true],
  ])("T4 at %s: %s", (now, due) => {
    expect(isDue(expiry, at(now))).toBe(due);
  });

  test("T4 never without an expiry", () => {
    expect(isDue({ expiresAt: null }, at("9999-12-31T00:00:00.000Z"))).toBe(false);
  });

  test("stops at an invalid clock or expiry instead of answering", () => {
    const invalid = at("unreadable");
    expect(() => isDue(expiry, invalid)).toThrow(RangeError);
    expect(() => isDue({ expiresAt: invalid }, at("2026-12-31T00:00:00.000Z"))).toThrow(RangeError);
  });
});

describe("expiresSoon", () => {
  const expiry = { expiresAt: at("2026-12-31T00:00:00.000Z") };
  const week = 7 * REAL_DAY;

  test.each([
    ["2026-12-23T23:59:59.999Z", false],
    ["2026-12-24T00:00:00.000Z", true],
    ["2027-06-01T00:00:00.000Z", true],
  ])("T11 with a window of a week, at %s: %s", (now, soon) => {
    expect(expiresSoon(expiry, at(now), week)).toBe(soon);
  });

  test("T12 never without an expiry", () => {
    expect(expiresSoon({ expiresAt: null }, at("2026-12-31T00:00:00.000Z"), week)).toBe(false);
  });
});
