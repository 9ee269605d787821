import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { quoteName, quoteText, splitName } from "./identifiers.ts";

test("a quoted name is split back into itself, whatever is in it", () => {
  const part = fc.string({ minLength: 1 });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      expect(splitName(parts.map(quoteName).join("."))).toEqual(parts);
    }),
  );
});

test("plain names are split at the dots", () => {
  expect(splitName("bronze.trial")).toEqual(["bronze", "trial"]);
});

test("a quote cannot end a text value", () => {
  expect(quoteText("x'; DROP TABLE y; --")).toBe("'x''; DROP TABLE y; --'");
});
