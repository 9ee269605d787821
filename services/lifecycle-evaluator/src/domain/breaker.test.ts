import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type EnvironmentLoad, fewestTooMuch, isTooMuch, judge, type OpenHold } from "./breaker.ts";

const load = (given: Partial<EnvironmentLoad> = {}): EnvironmentLoad => ({
  environmentId: "e",
  environment: "dev",
  tenant: "local",
  due: 0,
  covered: 0,
  tables: 100,
  ...given,
});
const hold = (given: Partial<OpenHold> = {}): OpenHold => ({
  holdId: "h",
  tenant: "local",
  environmentId: "e",
  horizon: new Date(1_000),
  confirmed: false,
  ...given,
});
const SHARE = 0.5;

describe("isTooMuch", () => {
  test.each([
    [10, 20, false],
    [11, 20, true],
    [19, 19, false],
    [50, 100, false],
    [51, 100, true],
  ])("T26 %d due of %d tables: %s", (due, tables, tooMuch) => {
    expect(isTooMuch({ due, tables }, SHARE)).toBe(tooMuch);
  });

  test("T26 nothing is too much where all may be due", () => {
    expect(isTooMuch({ due: 1_000, tables: 1_000 }, 1)).toBe(false);
  });

  test("T26 fewer due tables than are counted for can never be too much", () => {
    const share = fc.double({ min: 0.001, max: 1, noNaN: true });
    const tables = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(share, tables, fc.nat(), (part, count, due) => {
        expect(due < fewestTooMuch(part) && isTooMuch({ due, tables: count }, part)).toBe(false);
      }),
    );
  });
});

describe("judge", () => {
  test("T26 holds an environment back of which too much is due, and raises that once", () => {
    const first = judge([load({ due: 51 })], [], SHARE);
    expect(first.raise).toHaveLength(1);
    expect(first.limits).toEqual(new Map([["e", null]]));
    const again = judge([load({ due: 60 })], [hold()], SHARE);
    expect(again).toMatchObject({ raise: [], fallen: [], done: [] });
    expect(again.limits).toEqual(new Map([["e", null]]));
  });

  test("T26 a hold goes away by itself when the share has fallen, also where nothing is due any more", () => {
    expect(judge([load({ due: 50 })], [hold()], SHARE)).toMatchObject({ fallen: ["h"], held: [] });
    expect(judge([], [hold()], SHARE)).toMatchObject({ fallen: ["h"], held: [] });
  });

  test("T26 a confirmation serves what it covers, and holds what is due since when that is too much", () => {
    const confirmed = hold({ confirmed: true });
    expect(judge([load({ covered: 80 })], [confirmed], SHARE)).toMatchObject({
      held: [],
      done: [],
      raise: [],
    });
    const more = judge([load({ covered: 20, due: 51 })], [confirmed], SHARE);
    expect(more.raise).toHaveLength(1);
    expect(more.limits).toEqual(new Map([["e", confirmed.horizon]]));
  });

  test("T26 a confirmation is over once nothing is left of what it covers", () => {
    expect(judge([load({ due: 5 })], [hold({ confirmed: true })], SHARE).done).toEqual(["h"]);
  });

  test("T26 of two confirmations the later one counts", () => {
    const earlier = hold({ holdId: "a", confirmed: true });
    const later = hold({ holdId: "b", confirmed: true, horizon: new Date(2_000) });
    const { done, limits } = judge([load({ covered: 9, due: 60 })], [earlier, later], SHARE);
    expect(done).toEqual(["a"]);
    expect(limits.get("e")).toEqual(later.horizon);
  });

  test("T26 with a share of 1 nothing is held and what was held is free", () => {
    expect(judge([load({ due: 100 })], [hold()], 1)).toMatchObject({ held: [], fallen: ["h"] });
  });
});
