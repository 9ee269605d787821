import { describe, expect, test } from "@jest/globals";
import { isScheduleTurn, nextSweepAt, type ScheduleFacts } from "./sweep-schedule.ts";

const START = new Date("2026-05-01T00:00:00Z");
const after = (seconds: number) => new Date(START.getTime() + seconds * 1_000);
const facts = (given: Partial<ScheduleFacts> = {}): ScheduleFacts => ({
  intervalSeconds: 3_600,
  paused: false,
  lastStartedAt: START,
  lastHeld: false,
  ...given,
});
const turn = (given: Partial<ScheduleFacts>, seconds: number, waitingSince: Date | null = null) =>
  isScheduleTurn(facts(given), { now: after(seconds), waitingSince });

describe("isScheduleTurn", () => {
  test("T23 by the interval from the last start", () => {
    expect(turn({}, 3_599)).toBe(false);
    expect(turn({}, 3_600)).toBe(true);
  });

  test("T23 at once when none has started yet", () => {
    expect(turn({ lastStartedAt: null }, 0)).toBe(true);
  });

  test("T23 never with an interval of 0, nor while everybody is paused", () => {
    for (const off of [{ intervalSeconds: 0 }, { paused: true }]) {
      expect(nextSweepAt(facts(off))).toBeNull();
      expect(turn({ ...off, lastStartedAt: null }, 1e6)).toBe(false);
    }
  });

  test("one that was held is tried again soon, and no sooner than the interval says", () => {
    expect(turn({ lastHeld: true }, 29)).toBe(false);
    expect(turn({ lastHeld: true }, 30)).toBe(true);
    expect(turn({ lastHeld: true, intervalSeconds: 5 }, 5)).toBe(true);
  });

  test("T23 T25 whoever has waited longer goes first, the schedule or who asks, so neither shuts the other out", () => {
    expect(turn({}, 4_000, after(3_599))).toBe(false);
    expect(turn({}, 4_000, after(3_600))).toBe(true);
    expect(turn({}, 3_599, after(3_590))).toBe(false);
  });
});
