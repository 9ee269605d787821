import { describe, expect, test } from "@jest/globals";
import { anyStillMissing, countMissing, type MissingRange } from "./missing-range.ts";

const range = (from: bigint, to: bigint, stream = "CATALOG"): MissingRange => ({
  source: "lapse.catalog",
  stream,
  from,
  to,
});

describe("countMissing", () => {
  test("counts numbers by stream, both ends included", () => {
    expect(countMissing([range(3n, 5n), range(9n, 9n), range(1n, 2n, "POLICY")])).toEqual(
      new Map([
        ["CATALOG", 4n],
        ["POLICY", 2n],
      ]),
    );
  });
});

describe("anyStillMissing", () => {
  test("is so while one number of those before is missing", () => {
    expect(anyStillMissing([range(3n, 5n)], [range(5n, 5n)])).toBe(true);
    expect(anyStillMissing([range(3n, 5n)], [])).toBe(false);
  });

  test("does not mind what has gone missing since", () => {
    expect(anyStillMissing([range(3n, 5n)], [range(6n, 9n), range(3n, 5n, "POLICY")])).toBe(false);
    expect(anyStillMissing([], [range(1n, 1n)])).toBe(false);
  });
});
