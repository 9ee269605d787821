import { describe, expect, test } from "@jest/globals";
import { dayLength, daysAfter, isDayCount, REAL_DAY } from "./day.ts";

const noon = new Date("2026-03-01T12:00:00.000Z");

describe("dayLength", () => {
  test("is the given seconds in ms, from one second to a real day", () => {
    expect(dayLength(1)).toBe(1000);
    expect(dayLength(86_400)).toBe(REAL_DAY);
  });

  test.each([0, -1, 1.5, 86_401, Number.NaN, Number.POSITIVE_INFINITY])(
    "refuses %d seconds",
    (seconds) => {
      expect(() => dayLength(seconds)).toThrow(`from 1 to 86400, not ${seconds}`);
    },
  );
});

describe("isDayCount", () => {
  test.each([1, 30, 3650])("T10 accepts %d days", (days) => {
    expect(isDayCount(days)).toBe(true);
  });

  test.each([0, -1, 3651, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "T10 refuses %d days",
    (days) => {
      expect(isDayCount(days)).toBe(false);
    },
  );
});

describe("daysAfter", () => {
  test("T4 counts in retention days", () => {
    expect(daysAfter(noon, 2, REAL_DAY)).toEqual(new Date("2026-03-03T12:00:00.000Z"));
    expect(daysAfter(noon, 2, dayLength(5))).toEqual(new Date("2026-03-01T12:00:10.000Z"));
  });

  test("T10 refuses days out of bounds instead of giving an early instant", () => {
    expect(() => daysAfter(noon, -30, REAL_DAY)).toThrow("1 to 3650 whole days, not -30");
  });
});
