import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { instantOrNull } from "../test/arbitraries.ts";
import { compareExpiry, isShortened } from "./shortened.ts";

const monday = new Date("2026-11-30T00:00:00.000Z");
const tuesday = new Date("2026-12-01T00:00:00.000Z");

describe("compareExpiry", () => {
  test("T11 sorts soonest first and what never expires last", () => {
    expect([null, tuesday, null, monday].sort(compareExpiry)).toEqual([
      monday,
      tuesday,
      null,
      null,
    ]);
  });

  test("T11 is a total order", () => {
    fc.assert(
      fc.property(instantOrNull, instantOrNull, instantOrNull, (a, b, c) => {
        // Adding 0 makes one of the two zeros.
        expect(Math.sign(compareExpiry(a, b))).toBe(0 - Math.sign(compareExpiry(b, a)));
        if (compareExpiry(a, b) <= 0 && compareExpiry(b, c) <= 0) {
          expect(compareExpiry(a, c)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  test("refuses an invalid Date", () => {
    expect(() => compareExpiry(new Date(Number.NaN), monday)).toThrow(RangeError);
  });
});

describe("isShortened", () => {
  test.each([
    ["sooner", tuesday, monday, true],
    ["at all, when it would not expire before", null, monday, true],
    ["later", monday, tuesday, false],
    ["at the same instant", monday, new Date(monday), false],
    ["never, when it would expire before", monday, null, false],
    ["never, as before", null, null, false],
  ])("T6 judges a change that makes the table expire %s", (_change, before, after, shortened) => {
    expect(isShortened(before, after)).toBe(shortened);
  });

  test("T6 is antisymmetric, and false both ways only for the same expiry", () => {
    fc.assert(
      fc.property(instantOrNull, instantOrNull, (a, b) => {
        const same = a?.getTime() === b?.getTime();
        expect([isShortened(a, b), isShortened(b, a)].filter(Boolean)).toHaveLength(same ? 0 : 1);
      }),
    );
  });

  test("T6 is transitive", () => {
    fc.assert(
      fc.property(instantOrNull, instantOrNull, instantOrNull, (a, b, c) => {
        fc.pre(isShortened(a, b) && isShortened(b, c));
        expect(isShortened(a, c)).toBe(true);
      }),
    );
  });
});
