import { describe, expect, test } from "@jest/globals";
import { familyOf, type TypeFamily, valueFault } from "./type-family.ts";

describe("familyOf", () => {
  test.each<[string, TypeFamily]>([
    ["BIGINT", "integer"],
    ["long", "integer"],
    ["DECIMAL(10,2)", "decimal"],
    ["decimal( 10 , 2 )", "decimal"],
    ["NUMERIC", "decimal"],
    ["DOUBLE", "float"],
    ["double  precision", "float"],
    ["VARCHAR(20)", "text"],
    ["STRING", "text"],
    ["BOOLEAN", "boolean"],
    ["DATE", "date"],
    ["TIMESTAMP WITH TIME ZONE", "timestamp"],
    ["TIMESTAMP(3)", "timestamp"],
    ["timestamp_ns", "timestamp"],
    ["UUID", "uuid"],
    ["BIGINT[]", "unknown"],
    ["STRUCT(a BIGINT)", "unknown"],
    ["MAP(VARCHAR, BIGINT)", "unknown"],
    ["constructor", "unknown"],
    ["", "unknown"],
  ])("%s is of the family %s", (type, family) => {
    expect(familyOf(type)).toBe(family);
  });
});

describe("valueFault", () => {
  test.each<[TypeFamily, string[], string[]]>([
    [
      "integer",
      ["0", "-1", "+42", "9223372036854775808"],
      ["", "1.0", "0x1", "1 or 1", "１", "\n1"],
    ],
    ["decimal", ["1", "-1.50", ".5", "1."], ["", ".", "1e5", "NaN", "1,5"]],
    ["float", ["1e5", "-.5E-3", "3"], ["", "e5", "Infinity", "1e"]],
    ["boolean", ["true", "false"], ["", "TRUE", "1", "t"]],
    [
      "date",
      ["2026-02-28", "2024-02-29"],
      ["", "2026-02-30", "2026-2-1", "28.02.2026", "2026-13-01"],
    ],
    [
      "timestamp",
      [
        "2026-12-31",
        "2026-12-31T12:00",
        "2026-12-31 12:00:00.123456Z",
        "2026-12-31T12:00:00+01:00",
      ],
      ["", "now", "2026-02-30T00:00", "2026-12-31T", "12:00"],
    ],
    [
      "uuid",
      ["01890b00-0000-7000-8000-00000000000A"],
      ["", "01890b00", "01890b0000007000800000000000000a"],
    ],
    ["text", ["", "'; --"], []],
    ["unknown", ["", "anything"], []],
  ])("of a %s column takes %j and not %j", (family, good, bad) => {
    for (const value of good)
      expect([value, valueFault(family, value)]).toEqual([value, undefined]);
    for (const value of bad)
      expect([value, valueFault(family, value)]).toEqual([value, expect.any(String)]);
  });
});
