import { describe, expect, test } from "@jest/globals";
import { ruleAfterRestore } from "./restore.ts";

const SETTING = { setBy: "ana", setAt: new Date("2026-01-01T00:00:00Z") };
const ON = { kind: "on", on: "2026-03-01", ...SETTING } as const;
const MIDNIGHT = new Date("2026-03-01T00:00:00.000Z");

describe("ruleAfterRestore", () => {
  test("T28 a day that had come is removed, from its midnight on", () => {
    expect(ruleAfterRestore(ON, MIDNIGHT)).toBeNull();
    expect(ruleAfterRestore(ON, new Date("2026-06-01T12:00:00Z"))).toBeNull();
  });

  test("T28 a day still to come stays", () => {
    expect(ruleAfterRestore(ON, new Date(MIDNIGHT.getTime() - 1))).toBe(ON);
  });

  test("days, never and no rule stay as they are", () => {
    const days = { kind: "days", days: 1, ...SETTING } as const;
    const never = { kind: "never", ...SETTING } as const;
    expect(ruleAfterRestore(days, MIDNIGHT)).toBe(days);
    expect(ruleAfterRestore(never, MIDNIGHT)).toBe(never);
    expect(ruleAfterRestore(null, MIDNIGHT)).toBeNull();
  });
});
