import { describe, expect, test } from "@jest/globals";
import { inTime } from "./in-time.ts";

describe("inTime", () => {
  test("gives the answer, or what it fails with", async () => {
    await expect(inTime(Promise.resolve(1), 1_000)).resolves.toBe(1);
    await expect(inTime(Promise.reject(new Error("no")), 1_000)).rejects.toThrow("no");
  });

  test("takes a store that does not answer for one that is away", async () => {
    const never = new Promise(() => undefined);
    await expect(inTime(never, 1)).rejects.toMatchObject({
      kind: "unavailable",
      reason: "OBJECT_STORE_UNAVAILABLE",
    });
  });
});
