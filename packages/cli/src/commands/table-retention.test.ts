import { describe, expect, test } from "@jest/globals";
import { UsageError } from "../exit.ts";
import { ruleOf } from "./table-retention.ts";

describe("ruleOf", () => {
  test("T3 exactly one of --days, --on and --never is a rule", () => {
    expect(ruleOf({ days: 3 })).toEqual({ days: 3 });
    expect(ruleOf({ on: "2026-12-31" })).toEqual({ on: "2026-12-31" });
    expect(ruleOf({ never: true })).toEqual({ never: true });
  });
  test("T2 without an option the retention is shown", () => {
    expect(ruleOf({})).toBeNull();
  });
  test("T3 two at once are refused", () => {
    expect(() => ruleOf({ days: 3, never: true })).toThrow(UsageError);
  });
});
