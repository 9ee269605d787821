import { describe, expect, test } from "@jest/globals";
import { aTable } from "../../test/builders.ts";
import { assetList, parseAsset, projectNameFault, versionFault, withAsset } from "./project.ts";

describe("a project's names", () => {
  test("T20 an asset is a qualified name, split at its last dot", () => {
    expect(parseAsset("gold.orders")).toEqual({ namespace: "gold", name: "orders" });
    expect(parseAsset("gold.eu.orders")).toEqual({ namespace: "gold.eu", name: "orders" });
  });

  test("an asset's accents are normalised as a table's are", () => {
    expect(parseAsset("gold.cafe\u0301")).toEqual({ namespace: "gold", name: "café" });
  });

  test.each(["orders", "", ".orders", "gold.", "gold..orders", "gold/x.orders", 'gold."x"'])(
    "%j is no asset, and the fault says why",
    (text) => {
      expect(typeof parseAsset(text)).toBe("string");
    },
  );

  test.each(["shop", "shop.v2", "Shop_1-x", "9"])("%s is a project's name", (name) => {
    expect(projectNameFault(name)).toBeUndefined();
  });

  test.each(["", "-x", "a b", "a/b", "é", "x".repeat(64)])("%j is none", (name) => {
    expect(projectNameFault(name)).toBeDefined();
  });

  test("a version is anything that can be seen, up to 100 characters", () => {
    expect(versionFault("2026.11.30+4f2a91c")).toBeUndefined();
    for (const version of ["", "a b", "é", "x".repeat(101)]) {
      expect(versionFault(version)).toBeDefined();
    }
  });

  test("two lists of the same names are the same list", () => {
    expect(assetList(["b.x", "a.x", "b.x"])).toEqual(assetList(["a.x", "b.x"]));
  });
});

describe("withAsset", () => {
  test("T20 says which project keeps the table, in which version", () => {
    expect(withAsset(aTable(), { project: "shop", version: "1.4.0" })).toEqual(
      aTable({ projectAsset: true, assetOf: "shop 1.4.0" }),
    );
  });

  test("takes it back where none does", () => {
    const asset = aTable({ projectAsset: true, assetOf: "shop 1.4.0" });
    expect(withAsset(asset, undefined)).toEqual(aTable());
  });
});
