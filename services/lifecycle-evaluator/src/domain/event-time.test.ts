import { describe, expect, test } from "@jest/globals";
import { clampToNow, MAX_AHEAD_MS } from "./event-time.ts";

describe("clampToNow", () => {
  test("T14 counts more than five minutes ahead as now", () => {
    expect(clampToNow(1_000 + MAX_AHEAD_MS + 1, 1_000)).toEqual({ at: 1_000, clamped: true });
    expect(clampToNow(1_000 + MAX_AHEAD_MS, 1_000)).toEqual({
      at: 1_000 + MAX_AHEAD_MS,
      clamped: false,
    });
  });

  test("T14 leaves the past as it is, however long ago", () => {
    expect(clampToNow(-5e13, 1_000)).toEqual({ at: -5e13, clamped: false });
  });

  test("a number that no clock shows counts as now", () => {
    expect(clampToNow(Number.POSITIVE_INFINITY, 1_000)).toEqual({ at: 1_000, clamped: true });
  });
});
