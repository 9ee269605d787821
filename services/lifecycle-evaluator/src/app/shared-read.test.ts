import { describe, expect, test } from "@jest/globals";
import { SharedRead } from "./shared-read.ts";

/** A reading that ends when it is told to; each gives its number. */
function controlled() {
  const ends: ((fail?: Error) => void)[] = [];
  const shared = new SharedRead(
    () =>
      new Promise<number>((resolve, reject) => {
        const nth = ends.length + 1;
        ends.push((error) => (error ? reject(error) : resolve(nth)));
      }),
  );
  return { shared, ends };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("SharedRead", () => {
  test("gives who comes while a reading is under way the next one, which they share", async () => {
    const { shared, ends } = controlled();
    const first = shared.get();
    const [second, third] = [shared.get(), shared.get()];
    expect(ends).toHaveLength(1);
    ends[0]?.();
    expect(await first).toBe(1);
    await settle();
    expect(ends).toHaveLength(2);
    const fourth = shared.get();
    ends[1]?.();
    expect(await Promise.all([second, third])).toEqual([2, 2]);
    await settle();
    ends[2]?.();
    expect(await fourth).toBe(3);
  });

  test("starts anew when nothing is under way", async () => {
    const { shared, ends } = controlled();
    const first = shared.get();
    ends[0]?.();
    await first;
    await settle();
    const second = shared.get();
    ends[1]?.();
    expect(await second).toBe(2);
  });

  test("a reading that fails is not the next one's failure", async () => {
    const { shared, ends } = controlled();
    const first = shared.get();
    const second = shared.get();
    ends[0]?.(new Error("away"));
    await expect(first).rejects.toThrow("away");
    await settle();
    ends[1]?.();
    expect(await second).toBe(2);
  });
});
