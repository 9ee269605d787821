import { describe, expect, test } from "@jest/globals";
import { inParallel } from "./in-parallel.ts";

describe("inParallel", () => {
  test("gives results in the order of the items, whatever ends first", async () => {
    const results = await inParallel([3, 1, 2], 3, async (n) => {
      for (let turn = 0; turn < n; turn++) await Promise.resolve();
      return n * 10;
    });
    expect(results).toEqual([30, 10, 20]);
  });

  test("has no more under way than allowed, and uses what is allowed", async () => {
    let now = 0;
    let most = 0;
    await inParallel(Array(20).fill(0), 4, async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
    });
    expect(most).toBe(4);
  });

  test("starts nothing after a failure, and waits for what is under way", async () => {
    const started: number[] = [];
    let finished = 0;
    const work = async (n: number) => {
      started.push(n);
      await new Promise((resolve) => setImmediate(resolve));
      if (n === 1) throw new Error("one");
      await new Promise((resolve) => setImmediate(resolve));
      finished++;
    };
    await expect(inParallel([0, 1, 2, 3, 4, 5], 2, work)).rejects.toThrow("one");
    expect(started).toEqual([0, 1]);
    expect(finished).toBe(1);
  });

  test("does nothing with nothing", async () => {
    expect(await inParallel([], 4, async () => 1)).toEqual([]);
  });
});
