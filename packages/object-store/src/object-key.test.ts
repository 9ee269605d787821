import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { checkBucket, checkKey, checkPrefix, compareKeys, exceedsKeyLimit } from "./object-key.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: fc.constantFrom("\ue000", "\uffff", "😀", "a", "/"), maxLength: 6 }),
);

describe("compareKeys", () => {
  test("orders as the bytes of UTF-8 do", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(Math.sign(compareKeys(a, b))).toBe(bytes);
      }),
    );
  });

  test("differs from the order of strings beyond U+FFFF, where that would break a listing", () => {
    expect("😀" < "\uffee").toBe(true);
    expect(compareKeys("😀", "\uffee")).toBeGreaterThan(0);
  });
});

describe("exceedsKeyLimit", () => {
  test("counts bytes of UTF-8", () => {
    const long = fc.string({ unit: "binary", minLength: 300, maxLength: 1100 });
    fc.assert(
      fc.property(long, (each) => {
        expect(exceedsKeyLimit(each)).toBe(Buffer.byteLength(each) > 1024);
      }),
    );
  });
});

describe("checks of names from outside (rule 8)", () => {
  test("a key that passes has no segment that leads out of its bucket", () => {
    const segment = fc.constantFrom("", ".", "..", "a", "...", " ..");
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1 }), (segments) => {
        const key = segments.join("/");
        const sound = key !== "" && !segments.includes(".") && !segments.includes("..");
        if (sound) expect(() => checkKey(key)).not.toThrow();
        else expect(() => checkKey(key)).toThrow(/^Key .*\.$/s);
      }),
    );
  });

  test("a sentence shows a hostile name escaped and cut", () => {
    expect(() => checkKey(`\n\u001b[31m\0${"x".repeat(900)}`)).toThrow(
      /^Key "\\n\\u001b\[31m\\u0000x{193}…": it contains a NUL character\.$/,
    );
  });

  test("the empty prefix is every key, and its last segment may be unfinished", () => {
    for (const prefix of ["", "a/..", "a/.", "/", "a//"]) {
      expect(() => checkPrefix(prefix)).not.toThrow();
    }
    expect(() => checkPrefix("a/../b")).toThrow(/between slashes/);
  });

  test("the names of warehouses' buckets pass", () => {
    for (const bucket of ["acme--lake", "acme--lake--blobs", "b-0192c7d8-6f0e-7b1c", "a.b"]) {
      expect(() => checkBucket(bucket)).not.toThrow();
    }
  });
});
