import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { environmentRule, facts, instantOrNull, tableRule } from "../test/arbitraries.ts";
import { effectiveRule, type RuleFacts } from "./effective-rule.ts";

const setAt = new Date("2026-11-01T00:00:00.000Z");
const ON: RuleFacts = {
  kind: "managed",
  tableRule: { kind: "on", on: "2026-12-01", setBy: "ada", setAt },
  environmentRule: null,
  restoredAt: null,
};
const ENVIRONMENT = { days: 30, setBy: "ops", setAt };

describe("effectiveRule", () => {
  test("T9 is the table's own where it has one, never included", () => {
    fc.assert(
      fc.property(tableRule, fc.option(environmentRule), (own, environment) => {
        const table: RuleFacts = {
          kind: "managed",
          tableRule: own,
          environmentRule: environment,
          restoredAt: null,
        };
        expect(effectiveRule(table)).toEqual({ source: "table", rule: own });
      }),
    );
  });

  test("T7 is the environment's where the table has none", () => {
    fc.assert(
      fc.property(environmentRule, instantOrNull, (environment, restoredAt) => {
        const table: RuleFacts = {
          kind: "managed",
          tableRule: null,
          environmentRule: environment,
          restoredAt,
        };
        expect(effectiveRule(table)).toEqual({
          source: "environment",
          rule: { kind: "days", ...environment },
        });
      }),
    );
  });

  test("is none where neither sets one", () => {
    expect(effectiveRule({ ...ON, tableRule: null })).toBeNull();
  });

  test("T22 is none for a view, an external table and an artifact, whatever is set", () => {
    fc.assert(
      fc.property(facts, (any) => {
        fc.pre(any.kind !== "managed");
        expect(effectiveRule(any)).toBeNull();
      }),
    );
  });

  test.each([
    ["the day before", "2026-11-30T23:59:59.999Z", "table"],
    ["at its first instant", "2026-12-01T00:00:00.000Z", "environment"],
    ["after it", "2027-01-15T09:00:00.000Z", "environment"],
  ])(
    "T28 a table restored %s of its `on` day follows its own or its environment's rule",
    (_when, at, source) => {
      const restored = { ...ON, environmentRule: ENVIRONMENT, restoredAt: new Date(at) };
      expect(effectiveRule(restored)?.source).toBe(source);
    },
  );

  test("T28 a passed day is removed by the restore, and without an environment's rule none is left", () => {
    expect(effectiveRule({ ...ON, restoredAt: new Date("2026-12-02T00:00:00.000Z") })).toBeNull();
  });

  test("T28 a restore leaves days and never as they are", () => {
    fc.assert(
      fc.property(tableRule, instantOrNull, (own, restoredAt) => {
        fc.pre(own.kind !== "on");
        expect(effectiveRule({ ...ON, tableRule: own, restoredAt })?.rule).toEqual(own);
      }),
    );
  });

  test("stops at an invalid Date or a day that does not exist", () => {
    const restoredAt = new Date(Number.NaN);
    expect(() => effectiveRule({ ...ON, restoredAt })).toThrow(RangeError);
    const noSuchDay: RuleFacts = {
      ...ON,
      tableRule: { kind: "on", on: "2026-02-30", setBy: "ada", setAt },
      restoredAt: setAt,
    };
    expect(() => effectiveRule(noSuchDay)).toThrow(RangeError);
  });
});
