import { describe, expect, test } from "@jest/globals";
import { DAY_MS, daysBefore, NOW } from "../../test/builders.ts";
import { reclaimableBefore, undoUntil } from "./undo-period.ts";

describe("undoUntil", () => {
  test.each([
    ["retention", 7, 7],
    ["request", 7, 7],
    ["retention", 0, 1],
    ["request", 0, 0],
    ["retention", 1, 1],
  ] as const)(
    "T27 a drop by %s with %i undo days can be undone for %i",
    (reason, undoDays, days) => {
      expect(undoUntil(NOW, reason, { undoDays, dayMs: DAY_MS })).toEqual(daysBefore(-days));
    },
  );

  test("counts in retention days", () => {
    expect(undoUntil(NOW, "request", { undoDays: 7, dayMs: 1_000 })).toEqual(
      new Date(NOW.getTime() + 7_000),
    );
  });
});

describe("reclaimableBefore", () => {
  test.each([
    [7, 7],
    [0, 1],
  ])("with %i undo days leaves removed files for %i", (undoDays, days) => {
    expect(reclaimableBefore(NOW, { undoDays, dayMs: DAY_MS })).toEqual(daysBefore(days));
  });
});
