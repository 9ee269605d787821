import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { dayLength, REAL_DAY } from "./day.ts";
import {
  type DurationReason,
  type DurationUnit,
  durationMs,
  looksLikeDuration,
  MAX_DURATION_DAYS,
  parseDuration,
} from "./duration.ts";

const UNITS: readonly DurationUnit[] = ["d", "h", "m", "s", "ms"];

describe("parseDuration", () => {
  test.each([
    ["7d", { days: 7, ms: 0 }],
    ["36h", { days: 0, ms: 129_600_000 }],
    ["15m", { days: 0, ms: 900_000 }],
    ["30s", { days: 0, ms: 30_000 }],
    ["500ms", { days: 0, ms: 500 }],
    ["1h30m", { days: 0, ms: 5_400_000 }],
    ["1d2h3m4s5ms", { days: 1, ms: 7_384_005 }],
    ["1m1ms", { days: 0, ms: 60_001 }],
    ["007d", { days: 7, ms: 0 }],
    ["0s", { days: 0, ms: 0 }],
    ["36500d", { days: 36_500, ms: 0 }],
  ])("T11 reads %s", (text, value) => {
    expect(parseDuration(text)).toEqual({ ok: true, value });
  });

  test("takes a bare number in the caller's default unit", () => {
    expect(parseDuration("7", "d")).toEqual({ ok: true, value: { days: 7, ms: 0 } });
    expect(parseDuration("3600", "s")).toEqual({ ok: true, value: { days: 0, ms: 3_600_000 } });
    expect(parseDuration("0", "s")).toEqual({ ok: true, value: { days: 0, ms: 0 } });
  });

  test("prefers a written unit to the default", () => {
    expect(parseDuration("7h", "d")).toEqual(parseDuration("7h"));
  });

  test.each<[string, DurationReason]>([
    ["", "EMPTY"],
    [" ", "EMPTY"],
    ["-5m", "NEGATIVE"],
    ["7", "NO_UNIT"],
    ["7w", "UNKNOWN_UNIT"],
    ["7D", "UNKNOWN_UNIT"],
    ["7days", "UNKNOWN_UNIT"],
    ["1h5q", "UNKNOWN_UNIT"],
    ["5µs", "UNKNOWN_UNIT"],
    ["5constructor", "UNKNOWN_UNIT"],
    ["30m1h", "UNIT_OUT_OF_ORDER"],
    ["1m30m", "UNIT_OUT_OF_ORDER"],
    ["7 days", "NOT_A_DURATION"],
    [" 7d", "NOT_A_DURATION"],
    ["7d\n", "NOT_A_DURATION"],
    ["1.5h", "NOT_A_DURATION"],
    ["+7d", "NOT_A_DURATION"],
    ["d", "NOT_A_DURATION"],
    ["1h30", "NOT_A_DURATION"],
    ["1e3s", "UNKNOWN_UNIT"],
    ["P7D", "NOT_A_DURATION"],
    ["2026-12-31", "NOT_A_DURATION"],
    ["36501d", "TOO_LONG"],
    ["36500d1ms", "TOO_LONG"],
    [`${"9".repeat(400)}ms`, "TOO_LONG"],
  ])("T10 refuses %j as %s, naming it", (text, reason) => {
    expect(parseDuration(text)).toEqual({
      ok: false,
      fault: { reason, message: expect.stringContaining(JSON.stringify(text.slice(0, 40))) },
    });
  });

  test("T10 names the unit that it does not know and those that it does", () => {
    expect(parseDuration("1h5q")).toMatchObject({
      fault: {
        message:
          '"1h5q" has the unknown unit "q": write whole numbers with d, h, m, s or ms, the largest unit first, such as 7d or 1h30m',
      },
    });
  });

  test("holds a default unit to the same bound", () => {
    expect(parseDuration("36501", "d")).toMatchObject({ ok: false, fault: { reason: "TOO_LONG" } });
  });

  test("reads back whatever the grammar can write", () => {
    const amounts = fc.tuple(...UNITS.map(() => fc.option(fc.nat({ max: 1000 }))));
    fc.assert(
      fc.property(amounts, (all) => {
        const parts = UNITS.flatMap((unit, i) =>
          typeof all[i] === "number" ? [`${all[i]}${unit}`] : [],
        );
        fc.pre(parts.length > 0);
        const [d, h, m, s, ms] = all.map((amount) => amount ?? 0) as [
          number,
          number,
          number,
          number,
          number,
        ];
        expect(parseDuration(parts.join(""))).toEqual({
          ok: true,
          value: { days: d, ms: ((h * 60 + m) * 60 + s) * 1000 + ms },
        });
      }),
    );
  });

  test("gives whole, bounded parts or a fault for any text, and never throws", () => {
    const near = fc.string({ unit: fc.constantFrom(..."0129dhms.- ") });
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), near),
        fc.option(fc.constantFrom(...UNITS)),
        (text, unit) => {
          const read = unit === null ? parseDuration(text) : parseDuration(text, unit);
          if (read.ok) {
            const total = durationMs(read.value, REAL_DAY);
            expect(Number.isSafeInteger(total)).toBe(true);
            expect(total).toBeGreaterThanOrEqual(0);
            expect(total).toBeLessThanOrEqual(MAX_DURATION_DAYS * REAL_DAY);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("durationMs", () => {
  test("counts d in retention days and the rest in real time", () => {
    const duration = { days: 2, ms: 3_600_000 };
    expect(durationMs(duration, REAL_DAY)).toBe(176_400_000);
    expect(durationMs(duration, dayLength(10))).toBe(3_620_000);
  });
});

describe("looksLikeDuration", () => {
  test.each([
    "30d",
    "7 days",
    "1h30m",
    "-30d",
    "1.5h",
    "2 Weeks",
    "6mo",
    "P30D",
    "PT36H",
    "90 minutes",
  ])("T10 knows %s for one", (text) => {
    expect(looksLikeDuration(text)).toBe(true);
  });

  test.each(["30", "2026-12-31", "31 Dec 2026", "31 March 2026", "tomorrow", "", "d"])(
    "takes %j for none",
    (text) => {
      expect(looksLikeDuration(text)).toBe(false);
    },
  );
});
