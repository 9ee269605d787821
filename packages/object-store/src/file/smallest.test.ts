import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { smallest } from "./smallest.ts";

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe("smallest", () => {
  test("keeps the first of all texts in UTF-8 byte order, and tells whether there were more", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "é", "\uffee", "😀") });
    fc.assert(
      fc.property(fc.uniqueArray(text), fc.integer({ min: 1, max: 8 }), (texts, capacity) => {
        const window = smallest(capacity);
        for (const each of texts) window.add(each);
        const sorted = [...texts].sort(byBytes);
        expect(window.take()).toEqual({
          texts: sorted.slice(0, capacity),
          more: texts.length > capacity,
        });
      }),
    );
  });
});
