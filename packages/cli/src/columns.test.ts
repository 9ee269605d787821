import { describe, expect, test } from "@jest/globals";
import { columnArgument } from "./columns.ts";

describe("columnArgument", () => {
  test("collects columns in their order, with the engine's type names", () => {
    const first = columnArgument("id:long!");
    expect(columnArgument("name:decimal(10,2)", first)).toEqual([
      { name: "id", type: "BIGINT", required: true },
      { name: "name", type: "DECIMAL(10,2)", required: false },
    ]);
  });

  test.each(["id", "id:", ":long", "a:b:c"])("refuses %s, showing the form", (text) => {
    expect(() => columnArgument(text)).toThrow(/name:type/);
  });
});
