import { describe, expect, test } from "@jest/globals";
import { nameKey, parseTableName } from "./table-name.ts";

const parse = (name: string, tenant = "", environment = "dev") =>
  parseTableName({ tenant, environment, name });

describe("parseTableName", () => {
  test("takes the last part as the table, the rest as its namespace, and local as the tenant", () => {
    expect(parse("bronze.raw.trial")).toEqual({
      tenant: "local",
      environment: "dev",
      namespace: "bronze.raw",
      name: "trial",
    });
    expect(parse("bronze.trial", "acme")?.tenant).toBe("acme");
  });

  test.each(["", "trial", ".trial", "bronze.", "a.b\0c"])("%j is no table's name", (name) => {
    expect(parse(name)).toBeNull();
  });

  test("a table is in an environment", () => {
    expect(parse("bronze.trial", "", "")).toBeNull();
  });

  test("a name is the same whichever way its accents were typed", () => {
    const [composed, decomposed] = [parse("bronze.caf\u00e9"), parse("bronze.cafe\u0301")];
    expect(composed && nameKey(composed)).toBe(decomposed && nameKey(decomposed));
  });
});

describe("nameKey", () => {
  test("two names never share one", () => {
    const keys = [
      parse("a.b.c"),
      parse("a.b_c"),
      parse("b.c", "", "a"),
      parse("b.c", "a", "a"),
    ].map((name) => name && nameKey(name));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
