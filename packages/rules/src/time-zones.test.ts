import { runInThisContext } from "node:vm";
import { afterAll, describe, expect, test } from "@jest/globals";
import { calendarDay, midnightUtc } from "./calendar-day.ts";
import { REAL_DAY } from "./day.ts";
import { type ExpiryFacts, expiryOf, isDue } from "./expiry.ts";
import { parseTableRule, type TableRule } from "./retention.ts";

// A test's own `process.env` is a copy; only the real one moves the zone of the engine.
const env: NodeJS.ProcessEnv = runInThisContext("process.env");
const zoneBefore = env.TZ;

function inZone<T>(zone: string, run: () => T): T {
  env.TZ = zone;
  try {
    return run();
  } finally {
    restoreZone();
  }
}

function restoreZone(): void {
  if (zoneBefore === undefined) {
    delete env.TZ;
  } else {
    env.TZ = zoneBefore;
  }
}

/** Zones with both offsets' extremes, half-hour summer time, and one that lost a whole day. */
const ZONES = [
  "UTC",
  "America/New_York",
  "Europe/London",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Asia/Shanghai",
  "Pacific/Kiritimati",
  "Pacific/Pago_Pago",
  "Pacific/Apia",
];

function tableWith(rule: TableRule, lastActivityAt: string): ExpiryFacts {
  return {
    kind: "managed",
    lastActivityAt: new Date(lastActivityAt),
    restoredAt: null,
    tableRule: { ...rule, setBy: "ada", setAt: new Date(lastActivityAt) },
    environmentRule: null,
    environmentProtected: false,
    projectAsset: false,
    dayLength: REAL_DAY,
  };
}

/** Last activity, days, expiry: each spans a change of the clocks somewhere in {@link ZONES}. */
const ACROSS_A_CHANGE = [
  ["2026-03-07T12:00:00.000Z", 1, "2026-03-08T12:00:00.000Z"],
  ["2026-03-08T06:59:59.999Z", 1, "2026-03-09T06:59:59.999Z"],
  ["2026-03-28T12:00:00.000Z", 2, "2026-03-30T12:00:00.000Z"],
  ["2026-10-03T15:29:59.999Z", 1, "2026-10-04T15:29:59.999Z"],
  ["2026-10-24T12:00:00.000Z", 2, "2026-10-26T12:00:00.000Z"],
  ["2026-11-01T05:30:00.000Z", 1, "2026-11-02T05:30:00.000Z"],
  ["2011-12-29T12:00:00.000Z", 2, "2011-12-31T12:00:00.000Z"],
  ["2026-01-15T00:00:00.000Z", 365, "2027-01-15T00:00:00.000Z"],
] as const;

afterAll(restoreZone);

describe.each(ZONES)("in %s", (zone) => {
  test.each(ACROSS_A_CHANGE)(
    "T4 activity at %s and %d days expire at %s",
    (active, days, expiresAt) => {
      const expiry = inZone(zone, () => expiryOf(tableWith({ kind: "days", days }, active)));
      expect(expiry.expiresAt?.toISOString()).toBe(expiresAt);
    },
  );

  test.each(["2026-03-08", "2026-03-29", "2026-10-25", "2026-11-01", "2011-12-30"])(
    "T4 %s begins at midnight UTC",
    (on) => {
      const table = tableWith({ kind: "on", on }, "2011-01-01T00:00:00.000Z");
      const midnight = `${on}T00:00:00.000Z`;
      const [due, justBefore] = inZone(zone, () => [
        isDue(expiryOf(table), new Date(midnight)),
        isDue(expiryOf(table), new Date(Date.parse(midnight) - 1)),
      ]);
      expect([due, justBefore]).toEqual([true, false]);
    },
  );

  test("T3 today is the day in UTC", () => {
    const accepted = (on: string, now: string): boolean =>
      inZone(zone, () => parseTableRule({ on }, new Date(now)).ok);
    expect(accepted("2026-12-01", "2026-11-30T23:59:59.999Z")).toBe(true);
    expect(accepted("2026-11-30", "2026-11-30T00:00:00.000Z")).toBe(false);
    expect(accepted("2026-12-01", "2026-12-01T00:00:00.000Z")).toBe(false);
  });

  test("T4 a day read in this zone is the same day written in any other", () => {
    const midnight = inZone(zone, () => midnightUtc("2026-11-01"));
    for (const other of ZONES) {
      expect(inZone(other, () => calendarDay(midnight))).toBe("2026-11-01");
    }
  });
});

describe("the zones of these tests", () => {
  test("would move a day counted in local time wherever the clocks change", () => {
    const moved = ZONES.filter((zone) =>
      ACROSS_A_CHANGE.some(([active, days, expiresAt]) =>
        inZone(zone, () => {
          const local = new Date(active);
          local.setDate(local.getDate() + days);
          return local.toISOString() !== expiresAt;
        }),
      ),
    );
    expect(moved).toEqual(
      expect.arrayContaining([
        "America/New_York",
        "Europe/London",
        "Australia/Lord_Howe",
        "Pacific/Apia",
      ]),
    );
    expect(moved).not.toContain("UTC");
  });

  test("would move a midnight taken in local time, all but UTC", () => {
    const moved = ZONES.filter((zone) =>
      inZone(zone, () => new Date(2026, 6, 1).getTime() !== midnightUtc("2026-07-01").getTime()),
    );
    expect(moved).toEqual(ZONES.filter((zone) => zone !== "UTC"));
  });
});
