import { describe, expect, test } from "@jest/globals";
import { rightFor, rightWhateverBefore } from "./right.ts";

const SOON = new Date("2026-01-01T00:00:00Z");
const LATER = new Date("2026-02-01T00:00:00Z");

describe("rightFor", () => {
  test.each([
    { before: LATER, after: SOON },
    { before: null, after: SOON },
  ])("T6 sooner, or at all, takes the drop right", (change) => {
    expect(rightFor(change)).toBe("table.drop");
  });

  test.each([
    { before: SOON, after: LATER },
    { before: SOON, after: SOON },
    { before: SOON, after: null },
    { before: null, after: null },
  ])("T6 later, never or the same takes the write right", (change) => {
    expect(rightFor(change)).toBe("table.write");
  });
});

describe("rightWhateverBefore", () => {
  const days = { kind: "days", days: 3 } as const;
  const rights = (write: boolean, drop: boolean) => ({ "table.write": write, "table.drop": drop });

  test("T6 never takes the write right without asking when the table expires now", () => {
    expect(rightWhateverBefore({ kind: "never" }, rights(true, false))).toBe("table.write");
    expect(rightWhateverBefore({ kind: "never" }, rights(false, true))).toBe("table.write");
  });

  test("T6 who has both rights or neither is answered without asking", () => {
    expect(rightWhateverBefore(days, rights(true, true))).toBe("table.drop");
    expect(rightWhateverBefore(days, rights(false, false))).toBe("table.drop");
  });

  test("T6 who has one of the two is judged by when the table expires now", () => {
    expect(rightWhateverBefore(days, rights(true, false))).toBeNull();
    expect(rightWhateverBefore(days, rights(false, true))).toBeNull();
  });
});
