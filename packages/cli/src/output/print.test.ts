import { describe, expect, test } from "@jest/globals";
import { fields, printable, table } from "./print.ts";

describe("printable", () => {
  test("shows control characters of foreign text as their code, so they cannot steer the terminal", () => {
    expect(printable("a\u001b]0;owned\u0007b\u009b2J")).toBe("a\\x1b]0;owned\\x07b\\x9b2J");
  });
  test("leaves plain text, unicode and colours alone", () => {
    expect(printable("Größe \u001b[31mred\u001b[39m\t✓")).toBe("Größe \u001b[31mred\u001b[39m\t✓");
  });
});

describe("table", () => {
  test("aligns columns without lines", () => {
    expect(
      table(
        ["a", "b"],
        [
          ["1", "22"],
          ["333", "4"],
        ],
      ).split("\n"),
    ).toEqual(["a    b", "1    22", "333  4"]);
  });
});

describe("fields", () => {
  test("leaves out what has no value and aligns the names", () => {
    expect(
      fields([
        ["long name", "x"],
        ["b", null],
        ["c", "y"],
      ]),
    ).toBe("long name  x\nc          y");
  });
});
