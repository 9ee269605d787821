import { describe, expect, test } from "@jest/globals";
import { shown } from "./fault.ts";

describe("shown", () => {
  test.each([
    ["30d", '"30d"'],
    ['a "b"\n', '"a \\"b\\"\\n"'],
    [1.5, "1.5"],
    [Number.NaN, "NaN"],
    [false, "false"],
    [null, "nothing"],
    [undefined, "nothing"],
    [{ password: "secret" }, "a value of another type"],
    [[30], "a value of another type"],
    [30n, "a value of another type"],
  ])("repeats %p as %s", (value, text) => {
    expect(shown(value)).toBe(text);
  });

  test("cuts long text, so that a fault stays short whatever was sent", () => {
    expect(shown("x".repeat(1_000_000))).toBe(`"${"x".repeat(40)}"…`);
    expect(shown("x".repeat(40))).toBe(`"${"x".repeat(40)}"`);
  });
});
