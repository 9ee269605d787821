import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { days, instant } from "../test/arbitraries.ts";
import { calendarDay, midnightUtc } from "./calendar-day.ts";
import { parseEnvironmentDays, parseTableRule, type RetentionFields } from "./retention.ts";
import { numberOrText, type RetentionReason } from "./retention-fields.ts";

const now = new Date("2026-11-30T18:00:00.000Z");

describe("parseTableRule", () => {
  test.each([
    [{ days: 1 }, { kind: "days", days: 1 }],
    [{ days: 3650 }, { kind: "days", days: 3650 }],
    [{ on: "2026-12-01" }, { kind: "on", on: "2026-12-01" }],
    [{ on: "9999-12-31" }, { kind: "on", on: "9999-12-31" }],
    [{ never: true }, { kind: "never" }],
    [
      { days: 30, on: null, never: undefined },
      { kind: "days", days: 30 },
    ],
  ])("T3 reads %j", (fields, value) => {
    expect(parseTableRule(fields, now)).toEqual({ ok: true, value });
  });

  test.each<[RetentionFields, string]>([
    [{}, "none"],
    [{ days: null, on: undefined }, "none"],
    [{ days: 30, never: true }, "days and never"],
    [{ days: 30, never: false }, "days and never"],
    [{ days: 30, on: "2026-12-31", never: true }, "days and on and never"],
  ])("T3 refuses %j: exactly one is given", (fields, got) => {
    expect(parseTableRule(fields, now)).toEqual({
      ok: false,
      fault: {
        field: null,
        reason: "NOT_EXACTLY_ONE",
        message: `give exactly one of days, on and never, not ${got}`,
      },
    });
  });

  test.each<[unknown, RetentionReason]>([
    [0, "DAYS_OUT_OF_RANGE"],
    [-1, "DAYS_OUT_OF_RANGE"],
    [3651, "DAYS_OUT_OF_RANGE"],
    [1e300, "DAYS_OUT_OF_RANGE"],
    [1.5, "DAYS_NOT_WHOLE"],
    [Number.NaN, "DAYS_NOT_WHOLE"],
    [Number.POSITIVE_INFINITY, "DAYS_NOT_WHOLE"],
    ["30", "DAYS_NOT_WHOLE"],
    ["", "DAYS_NOT_WHOLE"],
    [true, "DAYS_NOT_WHOLE"],
    [[30], "DAYS_NOT_WHOLE"],
    [{ days: 30 }, "DAYS_NOT_WHOLE"],
    ["30d", "DURATION_FOR_DAYS"],
    ["7 days", "DURATION_FOR_DAYS"],
    ["P30D", "DURATION_FOR_DAYS"],
    ["2026-12-31", "DATE_FOR_DAYS"],
    ["2026-02-30", "DATE_FOR_DAYS"],
  ])("T10 refuses days %j as %s", (value, reason) => {
    expect(parseTableRule({ days: value }, now)).toMatchObject({
      ok: false,
      fault: { field: "days", reason },
    });
  });

  test.each<[unknown, RetentionReason]>([
    ["30d", "DURATION_FOR_DATE"],
    ["7 days", "DURATION_FOR_DATE"],
    ["30", "DURATION_FOR_DATE"],
    [30, "DURATION_FOR_DATE"],
    ["", "NOT_A_DATE"],
    ["31.12.2026", "NOT_A_DATE"],
    ["20261231", "NOT_A_DATE"],
    ["2026-12-31T00:00:00Z", "NOT_A_DATE"],
    ["tomorrow", "NOT_A_DATE"],
    [true, "NOT_A_DATE"],
    [new Date("2026-12-31"), "NOT_A_DATE"],
    ["2026-02-30", "NO_SUCH_DATE"],
    ["2027-13-01", "NO_SUCH_DATE"],
    ["2026-11-30", "NOT_AFTER_TODAY"],
    ["2026-11-29", "NOT_AFTER_TODAY"],
    ["0001-01-01", "NOT_AFTER_TODAY"],
  ])("T10 refuses on %j as %s", (value, reason) => {
    expect(parseTableRule({ on: value }, now)).toMatchObject({
      ok: false,
      fault: { field: "on", reason },
    });
  });

  test.each([false, "true", 1])("T10 refuses never %j", (value) => {
    expect(parseTableRule({ never: value }, now)).toMatchObject({
      ok: false,
      fault: { field: "never", reason: "NEVER_NOT_TRUE" },
    });
  });

  test.each<[RetentionFields, string]>([
    [{ days: 0 }, "days must be 1 to 3650, not 0"],
    [{ days: "30d" }, '"30d" is a duration; days takes a whole number, such as 30'],
    [
      { days: "2026-12-31" },
      '"2026-12-31" is a date; days takes a whole number, such as 30; a date goes in on',
    ],
    [
      { on: "7 days" },
      '"7 days" is a duration; on takes a date written YYYY-MM-DD; a number of days goes in days',
    ],
    [
      { on: "2026-11-30" },
      "2026-11-30 is not after today (2026-11-30 in UTC); to expire the table now, drop it instead",
    ],
  ])("T10 says what to do about %j", (fields, message) => {
    expect(parseTableRule(fields, now)).toMatchObject({ fault: { message } });
  });

  test("T3 judges today in UTC, to the millisecond", () => {
    const rule = { on: "2026-12-01" };
    expect(parseTableRule(rule, new Date("2026-11-30T23:59:59.999Z")).ok).toBe(true);
    expect(parseTableRule(rule, new Date("2026-12-01T00:00:00.000Z")).ok).toBe(false);
  });

  test("T3 accepts a day exactly when it is after the day of now", () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: -3, max: 3 }), (at, offset) => {
        const today = midnightUtc(calendarDay(at)).getTime();
        const on = calendarDay(new Date(today + offset * 86_400_000));
        expect(parseTableRule({ on }, at).ok).toBe(offset > 0);
      }),
    );
  });

  test("T3 refuses to judge a day by an invalid clock", () => {
    expect(() => parseTableRule({ on: "2026-12-31" }, new Date(Number.NaN))).toThrow(RangeError);
  });

  test("T10 answers any value with a rule or a fault, and never throws", () => {
    fc.assert(
      fc.property(fc.constantFrom("days", "on", "never"), fc.anything(), (field, value) => {
        const read = parseTableRule({ [field]: value }, now);
        expect(read.ok ? read.value.kind : read.fault.message).not.toBe("");
      }),
      { numRuns: 1000 },
    );
  });
});

describe("parseEnvironmentDays", () => {
  test("T7 reads days within the bounds, and null for off", () => {
    fc.assert(
      fc.property(days, (value) => {
        expect(parseEnvironmentDays(value)).toEqual({ ok: true, value });
      }),
    );
    expect(parseEnvironmentDays(null)).toEqual({ ok: true, value: null });
  });

  test.each([undefined, 0, 3651, "30", "30d"])("T10 refuses %j", (value) => {
    expect(parseEnvironmentDays(value)).toMatchObject({ ok: false, fault: { field: "days" } });
  });
});

describe("numberOrText", () => {
  test("T10 turns digits into a number and leaves other text to be refused by name", () => {
    expect(numberOrText("30")).toBe(30);
    expect(parseTableRule({ days: numberOrText("9".repeat(400)) }, now).ok).toBe(false);
    for (const text of ["30d", "-5", "+5", "1e3", "0x10", "1.5", " 30", "", "٣٠", "2026-12-31"]) {
      expect(numberOrText(text)).toBe(text);
    }
  });
});
