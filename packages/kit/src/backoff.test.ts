import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { backoffMs, pause } from "./backoff.ts";

describe("backoffMs", () => {
  test("stays between half and all of the doubled first wait, and below the longest", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000 }), (failures) => {
        const wait = backoffMs(failures, { firstMs: 100, mostMs: 5_000 });
        const full = Math.min(5_000, 100 * 2 ** Math.min(failures, 30));
        expect(wait).toBeGreaterThanOrEqual(full / 2);
        expect(wait).toBeLessThanOrEqual(full);
      }),
    );
  });
});

describe("pause", () => {
  test("ends early, without an error, when aborted before or during", async () => {
    const abort = new AbortController();
    const waiting = pause(60_000, abort.signal);
    abort.abort();
    await waiting;
    await pause(60_000, abort.signal);
  });

  test("takes a time that has passed already for none", async () => {
    await pause(-5);
  });
});
