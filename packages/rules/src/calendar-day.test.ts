import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { instant } from "../test/arbitraries.ts";
import { calendarDay, isCalendarDay, midnightUtc } from "./calendar-day.ts";

describe("isCalendarDay", () => {
  test.each(["2026-12-31", "2028-02-29", "0001-01-01", "0099-12-31", "9999-12-31"])(
    "T10 accepts %s",
    (day) => {
      expect(isCalendarDay(day)).toBe(true);
    },
  );

  test.each([
    "2026-02-30",
    "2026-02-29",
    "2100-02-29",
    "2026-04-31",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00",
    "2026-1-1",
    "26-01-01",
    "02026-01-01",
    "2026-01-01\n",
    " 2026-01-01",
    "2026-01-01T00:00:00Z",
    "٢٠٢٦-٠١-٠١",
    "",
  ])("T10 refuses %j", (text) => {
    expect(isCalendarDay(text)).toBe(false);
  });

  test("T10 guards against the engine, which takes 30 February for 2 March", () => {
    expect(new Date("2026-02-30T00:00:00.000Z")).toEqual(new Date("2026-03-02T00:00:00.000Z"));
  });
});

describe("midnightUtc", () => {
  test("T4 is the first instant of the day in UTC", () => {
    expect(midnightUtc("2026-12-31")).toEqual(new Date("2026-12-31T00:00:00.000Z"));
  });

  test("reads a year below 100 as written", () => {
    expect(midnightUtc("0026-12-31").getUTCFullYear()).toBe(26);
  });

  test("refuses what is not a day, naming it", () => {
    expect(() => midnightUtc("2026-02-30")).toThrow('"2026-02-30" is not a calendar day');
  });
});

describe("calendarDay", () => {
  test("is the day in UTC up to its last millisecond", () => {
    expect(calendarDay(new Date("2026-12-31T23:59:59.999Z"))).toBe("2026-12-31");
  });

  test("names a day past the year 9999 whole", () => {
    expect(calendarDay(new Date(8.64e15))).toBe("+275760-09-13");
  });

  test("refuses an invalid Date", () => {
    expect(() => calendarDay(new Date(Number.NaN))).toThrow(RangeError);
  });

  test("gives a day that holds the instant", () => {
    fc.assert(
      fc.property(instant, (at) => {
        const sinceMidnight = at.getTime() - midnightUtc(calendarDay(at)).getTime();
        expect(sinceMidnight).toBeGreaterThanOrEqual(0);
        expect(sinceMidnight).toBeLessThan(86_400_000);
      }),
    );
  });
});
