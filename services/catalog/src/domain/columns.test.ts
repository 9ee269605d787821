import { describe, expect, test } from "@jest/globals";
import { columnFaults } from "./columns.ts";

const column = (name: string, type = "BIGINT") => ({ name, type, required: false });

describe("columnFaults", () => {
  test("takes what an engine may write", () => {
    const nested = column("a b", "STRUCT(x BIGINT, y VARCHAR[])");
    expect(columnFaults([column("id"), column("ID"), nested])).toEqual([]);
    expect(columnFaults([])).toEqual([]);
  });

  test("names every fault by its place", () => {
    const faults = columnFaults([column("id"), column(""), column("id"), column("x", "\u0007")]);
    expect(faults.map(({ field }) => field)).toEqual([
      "/columns/1/name",
      "/columns/2/name",
      "/columns/3/type",
    ]);
  });

  test.each([
    [column("x".repeat(256)), "255 bytes"],
    [column("x", "y".repeat(4_097)), "4096 bytes"],
    [column(" x"), "space"],
    [column("x", ""), "is required"],
  ])("refuses %j", (given, text) => {
    expect(columnFaults([given])[0]?.description).toContain(text);
  });

  test("bounds their number", () => {
    const many = Array.from({ length: 2_001 }, (_, index) => column(`c${index}`));
    expect(columnFaults(many.slice(1))).toEqual([]);
    expect(columnFaults(many)[0]?.description).toContain("at most 2000");
    const long = Array.from({ length: 300 }, (_, index) => column(`c${index}`, "y".repeat(4_000)));
    expect(columnFaults(long)[0]?.description).toContain("together");
  });
});
