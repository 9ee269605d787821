import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { clockFault, describeClockFault } from "./clock-fault.ts";

const HOUR = 3_600_000;
const LAST = new Date("2026-03-01T12:00:00.000Z");
const after = (ms: number) => new Date(LAST.getTime() + ms);
const look = (passedMs: number, intervalMs = HOUR) =>
  clockFault({ last: LAST, now: after(passedMs), intervalMs });

describe("clockFault", () => {
  test("T26 finds nothing at a first look, whatever the clock says", () => {
    expect(clockFault({ last: null, now: new Date(0), intervalMs: 0 })).toBeNull();
  });

  test.each([0, 1, HOUR, 3 * HOUR])("T26 finds nothing when %d ms have passed", (ms) => {
    expect(look(ms)).toBeNull();
  });

  test.each([-1, -HOUR, -365 * 24 * HOUR])("T26 a clock that went %d ms is behind", (ms) => {
    expect(look(ms)).toEqual({ kind: "behind", last: LAST, now: after(ms) });
  });

  test.each([3 * HOUR + 1, 24 * HOUR])("T26 a clock that went on by %d ms is ahead", (ms) => {
    expect(look(ms)).toEqual({ kind: "ahead", last: LAST, now: after(ms) });
  });

  test("T26 one hour is left where there are no intervals", () => {
    expect(look(HOUR, 0)).toBeNull();
    expect(look(HOUR + 1, 0)?.kind).toBe("ahead");
  });

  test("T26 every pair of readings is right, behind or ahead, and never two of them", () => {
    const ms = fc.integer({ min: -1e12, max: 1e12 });
    fc.assert(
      fc.property(ms, fc.integer({ min: 0, max: 1e9 }), (passed, intervalMs) => {
        const kind = look(passed, intervalMs)?.kind ?? "right";
        const limit = 2 * intervalMs + HOUR;
        expect(kind).toBe(passed < 0 ? "behind" : passed > limit ? "ahead" : "right");
      }),
    );
  });
});

describe("describeClockFault", () => {
  const words = (passedMs: number) => {
    const fault = look(passedMs);
    return fault && describeClockFault(fault);
  };

  test("T26 says by how much a clock went back, and what to do", () => {
    expect(words(-(2 * HOUR + 5 * 60_000 + 3_000))).toBe(
      "the clock of the database went back by 2 h 5 min (2026-03-01T12:00:00.000Z at the last look, 2026-03-01T09:54:57.000Z at this one); set it right, then confirm that it is",
    );
  });

  test("T26 says of one that went on that a stop of Lapse looks the same", () => {
    expect(words(49 * HOUR)).toMatch(
      /went on by 2 d 1 h between .*leapt ahead, or Lapse was stopped for that long.*confirm/,
    );
  });

  test("names even a millisecond", () => {
    expect(words(-1)).toContain("went back by 1 ms (");
  });
});
