import { describe, expect, test } from "@jest/globals";
import { integrityFault } from "./file-integrity.ts";

const magic = new TextEncoder().encode("PAR1");
const other = new TextEncoder().encode("PAR2");
const parquet = { path: "data/1.parquet", byteSize: 100n };
const whole = { byteSize: 100n, head: magic, tail: magic };

describe("integrityFault", () => {
  test("T28 finds nothing wrong with a whole file", () => {
    expect(integrityFault(parquet, whole)).toBeUndefined();
  });

  test.each([
    ["missing", null, "is not in the object store"],
    ["of another size", { ...whole, byteSize: 99n }, "has 99 bytes in the object store, not 100"],
    ["without its head", { ...whole, head: other }, "PAR1"],
    ["cut off", { ...whole, tail: other }, "PAR1"],
    ["that could not be looked into", { byteSize: 100n }, "PAR1"],
  ])("T28 says what is wrong with a file %s", (_, stored, text) => {
    expect(integrityFault(parquet, stored)).toContain(text);
  });

  test("takes no file for Parquet that is too short to be", () => {
    const short = { path: "x.PARQUET", byteSize: 8n };
    expect(integrityFault(short, { ...whole, byteSize: 8n })).toContain("PAR1");
  });

  test("compares only the size of a file that is no Parquet", () => {
    const csv = { path: "x.csv", byteSize: 3n };
    expect(integrityFault(csv, { byteSize: 3n })).toBeUndefined();
    expect(integrityFault(csv, { byteSize: 4n })).toBeDefined();
  });
});
