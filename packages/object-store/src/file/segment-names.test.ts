import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { claimName, continuesSegment, isClaim, segmentNames } from "./segment-names.ts";

const asGiven = segmentNames(false);
const folding = segmentNames(true);

const anySegment = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.string({
      unit: fc.constantFrom("~", "%", "!", "7", "e", "A", "a", "é", "😀"),
      maxLength: 12,
    }),
    fc.integer({ min: 240, max: 1024 }).map((length) => "x".repeat(length)),
    fc.integer({ min: 80, max: 340 }).map((length) => "あ".repeat(length)),
  )
  .filter((segment) => !/[\0/]/.test(segment) && segment !== "." && segment !== "..");

describe("segmentNames", () => {
  test.each([
    "x.parquet",
    "0192c7d8-6f0e-7b1c-9d3e-2a4f5b6c7d8e",
    "year=2024",
    "README.md",
    "photo[1] of Zoë.jpg",
    "report.csv~",
    "a=b",
    "100%",
    "~tmp",
    "x".repeat(255),
  ])("a name that the file system can hold stands for itself: %s", (segment) => {
    expect(asGiven.encode(segment)).toEqual([segment]);
    expect(asGiven.decode([segment])).toBe(segment);
  });

  test("an empty segment and one that starts with the mark are encoded", () => {
    expect(asGiven.encode("")).toEqual(["~%"]);
    expect(asGiven.encode("~%a!")).toEqual(["~%%7e%25a%21"]);
  });

  test("a segment over 255 bytes is spread over nested names", () => {
    const names = asGiven.encode("x".repeat(600));
    expect(names).toEqual([
      `~%${"x".repeat(252)}~`,
      `~%${"x".repeat(252)}~`,
      `~%${"x".repeat(96)}`,
    ]);
    expect(names.map(continuesSegment)).toEqual([true, true, false]);
  });

  test("where the file system folds case, upper-case and non-ASCII characters are spelt out", () => {
    expect(folding.encode("Zoë.md")).toEqual(["~%%5ao%c3%ab.md"]);
    expect(folding.encode("zoe.md")).toEqual(["zoe.md"]);
    expect(folding.decode(["Zoe.md"])).toBeNull();
  });

  test.each([["~%plain"], ["~%%61"], ["~%%7E"], ["~%%zz"], ["~%%ff"], ["~%a~"], ["~%"]])(
    "rule 8: a name that encode would not write is no segment: %s",
    (name) => {
      const expected = name === "~%" ? "" : null;
      expect(asGiven.decode([name])).toBe(expected);
    },
  );

  test.each([
    ["as given", asGiven],
    ["folding", folding],
  ])(
    "rule 8: every segment round-trips through names that a file system holds (%s)",
    (_, names) => {
      fc.assert(
        fc.property(anySegment, (segment) => {
          const written = names.encode(segment);
          expect(names.decode(written)).toBe(segment);
          for (const [index, name] of written.entries()) {
            expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
            expect(name).not.toMatch(/^\.{0,2}$|[\0/]/);
            expect(isClaim(name)).toBe(false);
            expect(continuesSegment(name)).toBe(index < written.length - 1);
          }
        }),
      );
    },
  );

  test("two segments never fold to one name where the file system folds case", () => {
    const fold = (segment: string) =>
      folding.encode(segment).join("/").normalize("NFC").toLowerCase();
    fc.assert(
      fc.property(anySegment, anySegment, (a, b) => {
        expect(fold(a) === fold(b)).toBe(a === b);
      }),
    );
    expect(fold("É")).not.toBe(fold("E\u0301"));
    expect(asGiven.encode("A")[0]?.toLowerCase()).toBe(asGiven.encode("a")[0]?.toLowerCase());
  });

  test("a claim's name is never that of a segment", () => {
    const name = claimName("1f-2-3", "ab12");
    expect(isClaim(name)).toBe(true);
    expect(continuesSegment(name)).toBe(false);
    expect(asGiven.decode([name])).toBeNull();
  });
});
