import { describe, expect, test } from "@jest/globals";
import { LeaseClock } from "./lease-clock.ts";

/** A timer counts whole milliseconds of another clock, so it may fire a little early by this one. */
const EARLY_MS = 5;

const lost = (clock: LeaseClock) =>
  new Promise<number>((resolve) => {
    clock.signal.addEventListener("abort", () => resolve(performance.now()));
  });

describe("LeaseClock", () => {
  test("ends before the lease does, counted from when it was asked for", async () => {
    const asked = performance.now();
    const at = await lost(new LeaseClock(100, asked));
    expect(at - asked).toBeGreaterThanOrEqual(80 - EARLY_MS);
    expect(at - asked).toBeLessThan(400);
  });

  test("an answer that took as long as the lease lasts is worth nothing", () => {
    const clock = new LeaseClock(100, performance.now() - 100);
    expect(clock.signal.aborted).toBe(true);
    expect(clock.lost).toBe(true);
  });

  test("each renewal moves the end", async () => {
    const asked = performance.now();
    const clock = new LeaseClock(100, asked);
    clock.extend(asked + 100);
    const at = await lost(clock);
    expect(at - asked).toBeGreaterThanOrEqual(180 - EARLY_MS);
  });

  test("once ended it stays ended, and given back is not lost", () => {
    const clock = new LeaseClock(10_000, performance.now());
    clock.end();
    clock.extend(performance.now());
    expect(clock.signal.aborted).toBe(true);
    expect(clock.lost).toBe(false);
  });
});
