import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { canonicalJson } from "./canonical-json.ts";
import type { Json } from "./decision.ts";

const json = fc.jsonValue() as fc.Arbitrary<Json>;

/** The same value with the keys of every object put in the opposite order. */
function reversed(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

describe("canonicalJson", () => {
  test("writes no space, sorts keys at every level and keeps the order of lists", () => {
    expect(canonicalJson({ b: [2, 1, { z: null, a: true }], a: "é\n", A: 1e21, ä: -0 })).toBe(
      '{"A":1e+21,"a":"é\\n","b":[2,1,{"a":true,"z":null}],"ä":0}',
    );
  });

  test("does not depend on the order in which the keys were set", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test("reads back as the value, so different values never have the same text", () => {
    fc.assert(
      fc.property(json, (value) => {
        const read: unknown = JSON.parse(canonicalJson(value));
        expect(read).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
