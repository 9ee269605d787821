import { describe, expect, test } from "@jest/globals";
import { UsageError } from "../exit.ts";
import { ruleOf, ruleText } from "./table-retention.ts";

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

describe("ruleText", () => {
  const none = {
    source: null,
    days: null,
    on: null,
    never: false,
    set_by: null,
    set_at: null,
    last_activity_at: null,
    last_activity_kind: null,
    expires_at: null,
    expires_soon: false,
    kept: null,
  } as const;
  test("T2 says whether the table or its environment sets it", () => {
    expect(ruleText({ ...none, source: "table", days: 1 })).toMatch(/^1 day .*on the table/);
    expect(ruleText({ ...none, source: "environment", days: 30 })).toMatch(/on its environment/);
    expect(ruleText({ ...none, source: "table", on: "2026-12-31" })).toMatch(/2026-12-31.*UTC/);
    expect(ruleText({ ...none, source: "table", never: true })).toMatch(/^never/);
    expect(ruleText(none)).toBeNull();
  });
});
