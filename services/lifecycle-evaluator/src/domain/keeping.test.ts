import { describe, expect, test } from "@jest/globals";
import { firstKeptReadDay, firstKeptSweep, forgetBefore } from "./keeping.ts";

const NOW = new Date("2026-05-31T10:00:00Z");

test("T17 a day of reads is kept while any of it lies within the keeping time", () => {
  expect(firstKeptReadDay(NOW, 30, 86_400)).toBe("2026-05-01");
  expect(firstKeptReadDay(NOW, 2, 3_600)).toBe("2026-05-31");
});

describe("what else is kept for a time", () => {
  test("records of sweeps for 90 days, rows of tables that are gone for 7", () => {
    expect(firstKeptSweep(NOW)).toEqual(new Date("2026-03-02T10:00:00Z"));
    expect(forgetBefore(NOW)).toEqual(new Date("2026-05-24T10:00:00Z"));
  });
});
