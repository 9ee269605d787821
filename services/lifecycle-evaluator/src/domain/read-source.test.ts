import { describe, expect, test } from "@jest/globals";
import { readSource } from "./read-source.ts";

describe("readSource", () => {
  test("T18 is the name as given", () => {
    expect(readSource("trino")).toBe("trino");
    expect(readSource("https://spark.example/")).toBe("https://spark.example/");
  });

  test.each([undefined, "", "   ", "\0"])("%j names nobody", (given) => {
    expect(readSource(given)).toBe("unknown");
  });

  test("what a database refuses is replaced, what is too long is cut between characters", () => {
    expect(readSource("tri\0no")).toBe("tri no");
    expect(readSource("\u{1F600}".repeat(300))).toBe("\u{1F600}".repeat(200));
  });
});
