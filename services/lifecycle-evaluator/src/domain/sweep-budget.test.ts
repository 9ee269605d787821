import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  fairShare,
  MAX_OUTSTANDING,
  nextChunk,
  spentTenants,
  totalProgress,
  withinShare,
} from "./sweep-budget.ts";

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

describe("fairShare", () => {
  test("T24 one tenant has the whole cap, many have at least one table each, and all shares together no more than it", () => {
    expect(fairShare(100, 1)).toBe(100);
    expect(fairShare(100, 0)).toBe(100);
    expect(fairShare(3, 50)).toBe(1);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 50 }),
        (cap, tenants) => {
          const share = fairShare(cap, tenants);
          expect(share === 1 || share * tenants <= cap).toBe(true);
        },
      ),
    );
  });
});

describe("withinShare", () => {
  const nothing = { dropped: 0, outstanding: 0, unanswered: 0 };

  test("T24 takes of each tenant the head that its share has room for, in order", () => {
    const tables = ["a1", "a2", "b1", "a3", "b2", "a4"];
    const progress = new Map([["b", { ...nothing, outstanding: 1 }]]);
    const tenantOf = (table: string) => table.slice(0, 1);
    expect(withinShare(tables, tenantOf, { progress, share: 2 })).toEqual(["a1", "a2", "b1"]);
    expect(withinShare(tables, tenantOf, { progress, share: 10 })).toEqual(tables);
  });

  test("T24 what may still be dropped uses a share up, what was kept does not", () => {
    const progress = new Map([
      ["a", { dropped: 1, outstanding: 1, unanswered: 1 }],
      ["b", nothing],
    ]);
    expect(spentTenants(progress, 3)).toEqual(["a"]);
    expect(totalProgress(progress)).toEqual({ dropped: 1, outstanding: 1, unanswered: 1 });
  });
});
