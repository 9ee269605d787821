import { describe, expect, test } from "@jest/globals";
import { isSweepDue, nextSweepAt, type ScheduleFacts } from "./sweep-schedule.ts";

const START = new Date("2026-05-01T00:00:00Z");
const after = (seconds: number) => new Date(START.getTime() + seconds * 1_000);
const facts = (given: Partial<ScheduleFacts> = {}): ScheduleFacts => ({
  intervalSeconds: 3_600,
  paused: false,
  lastStartedAt: START,
  lastHeld: false,
  ...given,
});

describe("isSweepDue", () => {
  test("T23 by the interval from the last start", () => {
    expect(isSweepDue(facts(), after(3_599))).toBe(false);
    expect(isSweepDue(facts(), after(3_600))).toBe(true);
  });

  test("T23 at once when none has started yet", () => {
    expect(isSweepDue(facts({ lastStartedAt: null }), START)).toBe(true);
  });

  test("T23 never with an interval of 0, nor while paused", () => {
    for (const off of [{ intervalSeconds: 0 }, { paused: true }]) {
      expect(nextSweepAt(facts(off))).toBeNull();
      expect(isSweepDue(facts({ ...off, lastStartedAt: null }), after(1e6))).toBe(false);
    }
  });

  test("one that was held is tried again soon, and no sooner than the interval says", () => {
    expect(isSweepDue(facts({ lastHeld: true }), after(29))).toBe(false);
    expect(isSweepDue(facts({ lastHeld: true }), after(30))).toBe(true);
    expect(isSweepDue(facts({ lastHeld: true, intervalSeconds: 5 }), after(5))).toBe(true);
  });
});
