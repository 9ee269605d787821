import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  firstPrefixAfter,
  prefixesAbove,
  tableBucket,
  tableLocation,
  tenantFault,
} from "./location.ts";

describe("tableBucket", () => {
  test("is the tenant and the environment where that is a bucket's name", () => {
    expect(tableBucket("local", "dev")).toBe("local--dev");
  });

  test("is another for every pair, legal whatever the names are", () => {
    const tenant = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,62}$/);
    const environment = fc.stringMatching(/^[a-z][a-z0-9_-]{0,62}$/);
    fc.assert(
      fc.property(tenant, environment, (tenant, environment) => {
        expect(tableBucket(tenant, environment)).toMatch(/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/);
      }),
    );
    const pairs = [
      ["a--b", "c"],
      ["a", "b--c"],
      ["a", "b_c"],
      ["a", "b-c"],
      ["a".repeat(60), "b1"],
      ["a".repeat(60), "b2"],
    ] as const;
    expect(new Set(pairs.map(([tenant, name]) => tableBucket(tenant, name))).size).toBe(
      pairs.length,
    );
  });
});

describe("tenantFault", () => {
  test.each(["local", "a", "acme-2"])("takes %j", (tenant) => {
    expect(tenantFault(tenant)).toBeUndefined();
  });
  test.each(["", "*", "A", "a/b", "..", "a_b", "-a", "a".repeat(64)])("refuses %j", (tenant) => {
    expect(tenantFault(tenant)).toContain("handle");
  });
});

describe("tableLocation", () => {
  test("lies under the environment's name and the table's own id", () => {
    const environment = { name: "dev", tableBucket: "local--dev" };
    expect(tableLocation(environment, "0190")).toEqual({
      bucket: "local--dev",
      keyPrefix: "dev/0190/",
    });
  });
});

describe("prefixesAbove and firstPrefixAfter", () => {
  test("name every prefix that a key prefix lies below", () => {
    expect(prefixesAbove("a/b/c/")).toEqual(["a/", "a/b/"]);
    expect(prefixesAbove("a/")).toEqual([]);
  });

  test("bound exactly the prefixes that begin with a key prefix", () => {
    const segment = fc.stringMatching(/^[a-c/0.-]{1,4}$/);
    fc.assert(
      fc.property(segment, segment, (a, b) => {
        const prefix = `${a}/`;
        const inRange = b >= prefix && b < firstPrefixAfter(prefix);
        expect(inRange).toBe(b.startsWith(prefix));
      }),
    );
  });
});
