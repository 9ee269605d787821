import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { instant } from "../test/arbitraries.ts";
import { epochMs, later, plusMs } from "./instant.ts";

const INVALID = new Date(Number.NaN);

describe("epochMs", () => {
  test("is the instant in ms since the epoch", () => {
    expect(epochMs(new Date("1970-01-01T00:00:01.234Z"))).toBe(1234);
  });

  test("refuses an invalid Date", () => {
    expect(() => epochMs(INVALID)).toThrow(RangeError);
  });

  test("guards comparisons, which would call an invalid Date neither before nor after", () => {
    const now = new Date();
    expect([INVALID < now, INVALID > now]).toEqual([false, false]);
  });
});

describe("plusMs", () => {
  test("keeps the millisecond", () => {
    expect(plusMs(new Date("2026-01-31T23:59:59.999Z"), 1)).toEqual(
      new Date("2026-02-01T00:00:00.000Z"),
    );
  });

  test("stops at the last instant a Date holds, where plain addition gives an invalid one", () => {
    const last = new Date(8.64e15);
    expect(plusMs(last, 1)).toEqual(last);
    expect(plusMs(new Date(0), Number.POSITIVE_INFINITY)).toEqual(last);
    expect(new Date(last.getTime() + 1).getTime()).toBeNaN();
  });
});

describe("later", () => {
  test("T14 folds to the same instant in any order and with duplicates", () => {
    const shuffled = fc
      .array(instant, { minLength: 1 })
      .chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
      );
    fc.assert(
      fc.property(shuffled, ([all, reordered]) => {
        const twice = [...reordered, ...all];
        expect(twice.reduce(later)).toEqual(all.reduce(later));
      }),
    );
  });

  test("refuses an invalid Date on either side", () => {
    expect(() => later(INVALID, new Date(0))).toThrow(RangeError);
    expect(() => later(new Date(0), INVALID)).toThrow(RangeError);
  });
});
