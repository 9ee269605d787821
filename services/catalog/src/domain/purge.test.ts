import { describe, expect, test } from "@jest/globals";
import { aDrop, aHold, aTable, DAY_MS, daysBefore, NOW } from "../../test/builders.ts";
import { abandonedBefore, abandonStaged, beginPurge, finishPurge, purgeRetryMs } from "./purge.ts";

const dropped = (undoUntil: Date) => aTable({ state: "dropped", drop: aDrop({ undoUntil }) });

describe("beginPurge", () => {
  test("T30 starts at the end of the undo period, not before", () => {
    expect(beginPurge(dropped(NOW), NOW)).toMatchObject({ state: "purging", changeVersion: 8n });
    expect(beginPurge(dropped(new Date(NOW.getTime() + 1)), NOW)).toBeUndefined();
  });

  test.each(["live", "staged", "purging", "purged"] as const)(
    "never touches a %s table",
    (state) => {
      expect(beginPurge({ ...dropped(NOW), state }, NOW)).toBeUndefined();
    },
  );
});

describe("finishPurge", () => {
  test("is no activity", () => {
    const purging = { ...dropped(NOW), state: "purging" } as const;
    expect(finishPurge(purging, NOW)).toEqual({
      ...purging,
      state: "purged",
      purgedAt: NOW,
      changeVersion: 8n,
    });
  });

  test.each(["live", "staged", "dropped", "purged"] as const)(
    "never touches a %s table",
    (state) => {
      expect(finishPurge({ ...dropped(NOW), state }, NOW)).toBeUndefined();
    },
  );
});

describe("abandonStaged", () => {
  const staged = aTable({ state: "staged", createdAt: daysBefore(1) });

  test("gives up a staged table after a day", () => {
    expect(abandonStaged(staged, [], NOW, DAY_MS)).toMatchObject({ state: "purging", drop: null });
    const younger = { ...staged, createdAt: new Date(daysBefore(1).getTime() + 1) };
    expect(abandonStaged(younger, [], NOW, DAY_MS)).toBeUndefined();
  });

  test("T21 leaves it to a writer that still holds it", () => {
    expect(abandonStaged(staged, [aHold()], NOW, DAY_MS)).toBeUndefined();
    expect(abandonStaged(staged, [aHold({ expiresAt: NOW })], NOW, DAY_MS)).toBeDefined();
  });

  test("never touches a table that has been committed to", () => {
    expect(abandonStaged({ ...staged, state: "live" }, [], NOW, DAY_MS)).toBeUndefined();
  });

  test("a short retention day does not shorten the wait below a real day", () => {
    expect(abandonedBefore(NOW, 1_000)).toEqual(daysBefore(1));
    expect(abandonedBefore(NOW, 2 * DAY_MS)).toEqual(daysBefore(2));
  });
});

describe("purgeRetryMs", () => {
  test("doubles from five seconds up to an hour", () => {
    expect([1, 2, 3, 10, 11, 1_000].map(purgeRetryMs)).toEqual([
      5_000, 10_000, 20_000, 2_560_000, 3_600_000, 3_600_000,
    ]);
  });
});
