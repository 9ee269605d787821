import { describe, expect, test } from "@jest/globals";
import { aDrop, aTable, daysBefore, NOW } from "../../test/builders.ts";
import { MAX_COUNTED, notEmpty } from "./blockers.ts";

describe("notEmpty", () => {
  test("T31 names what blocks, its state and when it is gone", () => {
    const shown = [
      aTable({ name: "a" }),
      aTable({ name: "b", state: "dropped", drop: aDrop({ undoUntil: daysBefore(-2) }) }),
      aTable({ name: "c", state: "dropped", drop: aDrop({ undoUntil: daysBefore(1) }) }),
      aTable({ name: "d", state: "purging" }),
      aTable({ name: "e", state: "staged" }),
    ];
    const { kind, reason, message, details } = notEmpty(
      "namespace bronze",
      { shown, total: 5 },
      NOW,
    );
    expect({ kind, reason, details }).toEqual({
      kind: "precondition",
      reason: "NOT_EMPTY",
      details: { total: "5" },
    });
    expect(message).toBe(
      "namespace bronze still has 5 tables: bronze.a (live), " +
        "bronze.b (dropped, can be undone until 2026-06-17T12:00:00.000Z), " +
        "bronze.c (dropped, about to be purged), bronze.d (its files are being deleted), " +
        "bronze.e (staged, until its first commit or a day without one); " +
        "drop the live ones and wait until the dropped ones are purged",
    );
  });

  test("says that there are more, and how many", () => {
    const { message } = notEmpty("environment dev", { shown: [aTable()], total: 731 }, NOW);
    expect(message).toContain("731 tables: bronze.trial (live), …;");
  });

  test("says where it stopped counting", () => {
    const many = { shown: [aTable()], total: MAX_COUNTED };
    expect(notEmpty("environment dev", many, NOW).message).toContain("at least 10000 tables");
  });

  test("stays short enough to travel in a header, whatever the names", () => {
    const long = aTable({ namespace: Array.from({ length: 8 }, () => "ü".repeat(31)).join(".") });
    const shown = Array.from({ length: 10 }, () => long);
    const { message } = notEmpty("environment dev", { shown, total: 10 }, NOW);
    expect(Buffer.byteLength(message)).toBeLessThan(2_300);
    expect(message).toContain(", …;");
  });
});
