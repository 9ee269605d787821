import { describe, expect, test } from "@jest/globals";
import { environmentNameFault, namespaceFault, normaliseName, tableNameFault } from "./names.ts";

describe("environmentNameFault", () => {
  test.each(["dev", "d", "prod-eu_2", "a".repeat(63)])("takes %j", (name) => {
    expect(environmentNameFault(name)).toBeUndefined();
  });
  test.each([
    "",
    "Dev",
    "2dev",
    "-dev",
    "dev.eu",
    "dev/eu",
    "dév",
    "a".repeat(64),
    "dev\n",
    "dev'",
  ])("refuses %j and says what is allowed", (name) =>
    expect(environmentNameFault(name)).toContain("lower-case letter"),
  );
});

describe("tableNameFault", () => {
  test.each(["trial", "Trial_2", "2026", "_x", "größe", "表", "a-b", "x".repeat(63)])(
    "takes %j",
    (name) => expect(tableNameFault(name)).toBeUndefined(),
  );
  test.each([
    "",
    " x",
    "x ",
    "a b",
    "a.b",
    "a/b",
    "a\\b",
    "-a",
    "a'b",
    'a"b',
    "a;b",
    "..",
    "\u0000",
    "a\n",
    "a\u202eb",
    "a\u200bb",
    "\u3164",
    "🎈",
    "x".repeat(64),
  ])("refuses %j", (name) => expect(tableNameFault(name)).toBeDefined());
  test("counts bytes, not characters", () => {
    expect(tableNameFault("ß".repeat(31))).toBeUndefined();
    expect(tableNameFault("ß".repeat(32))).toContain("63 bytes");
  });
});

describe("namespaceFault", () => {
  test.each(["bronze", "bronze.raw", "a.b.c.d.e.f.g.h"])("takes %j", (namespace) => {
    expect(namespaceFault(namespace)).toBeUndefined();
  });
  test.each(["", ".", "bronze.", ".bronze", "a..b", "a. b", "a/b"])("refuses %j", (namespace) => {
    expect(namespaceFault(namespace)).toContain("segment");
  });
  test("takes at most eight segments", () => {
    expect(namespaceFault("a.b.c.d.e.f.g.h.i")).toContain("at most 8");
  });
});

describe("normaliseName", () => {
  test("makes one name of both spellings of an accent", () => {
    expect(normaliseName("cafe\u0301")).toBe("caf\u00e9");
  });
});
