import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { MAX_OUTSTANDING, nextChunk } from "./sweep-budget.ts";

const progress = fc.record({
  dropped: fc.nat({ max: 5_000 }),
  outstanding: fc.nat({ max: 3_000 }),
  unanswered: fc.nat({ max: 3_000 }),
});

describe("nextChunk", () => {
  test("T24 never lets more be dropped than the cap, nor more be in flight than the catalog reaches in time", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 10_000 }),
        progress,
        (cap, { dropped, outstanding, unanswered }) => {
          const next = nextChunk(cap, { dropped, outstanding, unanswered });
          expect(next).toBeGreaterThanOrEqual(0);
          if (next > 0) {
            expect(dropped + outstanding + unanswered + next).toBeLessThanOrEqual(cap);
            expect(outstanding + next).toBeLessThanOrEqual(MAX_OUTSTANDING);
          }
        },
      ),
    );
  });

  test("T24 what was kept leaves its place to another", () => {
    expect(nextChunk(100, { dropped: 0, outstanding: 0, unanswered: 0 })).toBe(100);
    // A hundred issued, all of them kept.
    expect(nextChunk(100, { dropped: 0, outstanding: 0, unanswered: 0 })).toBe(100);
    expect(nextChunk(100, { dropped: 60, outstanding: 30, unanswered: 5 })).toBe(5);
  });
});
