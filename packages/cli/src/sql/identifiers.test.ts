import { expect, test } from "@jest/globals";
import { UsageError } from "../exit.ts";
import { quoteName, quoteText } from "./identifiers.ts";

test("a quote cannot end a name or a text value", () => {
  expect(quoteText("x'; DROP TABLE y; --")).toBe("'x''; DROP TABLE y; --'");
  expect(quoteName('x"; DROP TABLE y; --')).toBe('"x""; DROP TABLE y; --"');
});

test("a NUL, at which the engine would end the statement, is refused", () => {
  expect(() => quoteText("a\0b")).toThrow(UsageError);
  expect(() => quoteName("a\0b")).toThrow(UsageError);
});
