import { posix } from "node:path";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { dataFileFaults, MAX_FILES_PER_COMMIT, pathFault } from "./data-file.ts";

const file = (path: string, patch = {}) => ({ path, byteSize: 10n, rowCount: 1n, ...patch });

describe("pathFault", () => {
  test.each(["data/1.parquet", "1.parquet", "a b/ü=1/x.csv", "...", "a..b/c"])(
    "takes %j",
    (path) => {
      expect(pathFault(path)).toBeUndefined();
    },
  );

  test.each([
    "",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "../x",
    "a/../../x",
    "a/./b",
    "a\\..\\b",
    "a\u0000",
    "a\n",
    "a\u202eb",
    "a*",
    "a?",
    "a[1]",
    "\ud800",
    "x".repeat(901),
  ])("refuses %j", (path) => expect(pathFault(path)).toBeDefined());

  test("never takes a path that leads out of the table's prefix", () => {
    const path = fc.array(fc.constantFrom(".", "..", "/", "a", "\\", "%2e"), { maxLength: 8 });
    fc.assert(
      fc.property(path, (parts) => {
        const text = parts.join("");
        if (pathFault(text)) return;
        expect(posix.normalize(`dev/id/${text}`)).toBe(`dev/id/${text}`);
      }),
    );
  });
});

describe("dataFileFaults", () => {
  test("takes a commit without faults, also one without files", () => {
    expect(dataFileFaults([file("a"), file("b")])).toEqual([]);
    expect(dataFileFaults([])).toEqual([]);
  });

  test("names every fault by its place", () => {
    const faults = dataFileFaults([
      file("a"),
      file("../a"),
      file("a"),
      file("c", { byteSize: 2n ** 53n, rowCount: 2n ** 53n }),
    ]);
    expect(faults.map(({ field }) => field)).toEqual([
      "/files/1/path",
      "/files/2/path",
      "/files/3/byte_size",
      "/files/3/row_count",
    ]);
  });

  test("bounds the number of files", () => {
    const files = Array.from({ length: MAX_FILES_PER_COMMIT + 1 }, (_, index) => file(`f${index}`));
    expect(dataFileFaults(files)[0]?.description).toContain("at most 10000");
  });
});
