import { describe, expect, test } from "@jest/globals";
import { ruleText } from "./rule.ts";

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
