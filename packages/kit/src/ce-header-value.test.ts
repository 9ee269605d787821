import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decodeHeaderValue, encodeHeaderValue } from "./ce-header-value.ts";

const text = fc.string({ unit: "binary" });

describe("header values of the CloudEvents NATS binding", () => {
  test("any text comes back as it was, and travels as visible ASCII without quotes", () => {
    fc.assert(
      fc.property(text, (value) => {
        const header = encodeHeaderValue(value);
        expect(header).toMatch(/^[\x21\x23-\x7e]*$/);
        expect(decodeHeaderValue(header)).toBe(value);
      }),
    );
  });

  test("escapes a space, a quote and a percent sign, in upper case", () => {
    expect(encodeHeaderValue('a "b" 100% é€😀')).toBe(
      "a%20%22b%22%20100%25%20%C3%A9%E2%82%AC%F0%9F%98%80",
    );
  });

  test("reads lower-case escapes, and decodes once only", () => {
    expect(decodeHeaderValue("%c3%a9")).toBe("é");
    expect(decodeHeaderValue("%2541")).toBe("%41");
  });

  test("undoes double quotes first", () => {
    expect(decodeHeaderValue('"a \\"b\\" %41"')).toBe('a "b" A');
  });

  test("takes a percent sign that starts no escape for itself", () => {
    expect(decodeHeaderValue("100%")).toBe("100%");
    expect(decodeHeaderValue("%zz")).toBe("%zz");
  });

  test("refuses bytes that are not UTF-8", () => {
    expect(() => decodeHeaderValue("%FF")).toThrow(
      expect.objectContaining({ kind: "invalid", reason: "EVENT_UNREADABLE" }),
    );
    expect(() => decodeHeaderValue("%C0%AF")).toThrow(expect.objectContaining({ kind: "invalid" }));
  });
});
