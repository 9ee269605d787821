import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Activity, type ActivityTally, tally } from "./activity.ts";

const activity = fc.record({
  tableId: fc.constantFrom("a", "b"),
  kind: fc.constantFrom("read", "written", "maintained", "changed", "created", "restored"),
  at: fc.integer({ min: 0, max: 5 }),
}) as fc.Arbitrary<Activity>;

const tallied = (activities: readonly Activity[]): ActivityTally => {
  const all: ActivityTally = new Map();
  for (const each of activities) tally(all, each);
  return all;
};

describe("tally", () => {
  test("T14 is the same whatever the order, and however often each comes", () => {
    fc.assert(
      fc.property(
        fc
          .array(activity, { maxLength: 20 })
          .chain((all) =>
            fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
          ),
        ([all, shuffled]) => {
          expect(tallied([...shuffled, ...all])).toEqual(tallied(all));
        },
      ),
    );
  });

  test("T13 keeps the latest of all, and the latest read besides", () => {
    const all = tallied([
      { tableId: "a", kind: "read", at: 7 },
      { tableId: "a", kind: "written", at: 9 },
      { tableId: "a", kind: "read", at: 5 },
    ]);
    expect(all.get("a")).toMatchObject({
      lastActivityAt: 9,
      lastActivityKind: "written",
      lastReadAt: 7,
    });
  });
});
