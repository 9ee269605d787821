import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Activity, type ActivityTally, tally, tallyRead } from "./activity.ts";

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

describe("tallyRead", () => {
  test("T17 counts reads per day and source", () => {
    const all: ActivityTally = new Map();
    const noon = Date.parse("2026-05-01T12:00:00Z");
    const day = 86_400_000;
    for (const [at, source] of [
      [noon, "trino"],
      [noon + day, "trino"],
      [noon - 1, "trino"],
      [noon, "spark"],
    ] as const) {
      tallyRead(all, { tableId: "a", at, source });
    }
    expect(all.get("a")?.reads).toEqual([
      { day: "2026-05-01", source: "trino", reads: 2, lastAt: noon },
      { day: "2026-05-02", source: "trino", reads: 1, lastAt: noon + day },
      { day: "2026-05-01", source: "spark", reads: 1, lastAt: noon },
    ]);
  });

  test("a day begins at midnight UTC", () => {
    const all: ActivityTally = new Map();
    tallyRead(all, { tableId: "a", at: Date.parse("2026-05-01T23:59:59.999Z"), source: "" });
    tallyRead(all, { tableId: "a", at: Date.parse("2026-05-02T00:00:00.000Z"), source: "" });
    expect(all.get("a")?.reads.map(({ day }) => day)).toEqual(["2026-05-01", "2026-05-02"]);
  });
});
