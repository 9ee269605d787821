import { describe, expect, test } from "@jest/globals";
import { appliesToFault, subjectFault } from "./subject.ts";

describe("a subject", () => {
  test.each([
    "ana",
    "ana@example.org",
    "key:01890b00-0000-7000-8000-000000000000",
    "auth0|123",
    "Ångström",
    "x".repeat(200),
  ])("may be %s, and filters and masks may apply to it", (subject) => {
    expect(subjectFault(subject)).toBeUndefined();
    expect(appliesToFault(subject)).toBeUndefined();
  });

  test.each([
    "",
    " ",
    "a b",
    "a\tb",
    "a\nb",
    "a\0",
    "\u200b",
    "\u3164",
    "a\u202eb",
    "\ud800",
    "x".repeat(201),
    "a*",
    "role:admin",
  ])("may not be %j", (subject) => {
    expect(subjectFault(subject)).toEqual(expect.any(String));
  });
});

test("a filter or mask applies to a role that there is, or to everybody", () => {
  for (const one of ["*", "role:reader", "role:superadmin"])
    expect(appliesToFault(one)).toBeUndefined();
  for (const none of ["**", "role:", "role:emperor", "role:*", "role:Reader"]) {
    expect(appliesToFault(none)).toEqual(expect.any(String));
  }
});
