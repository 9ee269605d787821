import { describe, expect, test } from "@jest/globals";
import {
  count,
  instant,
  instantOrNull,
  oneOf,
  oneOfOrNull,
  pageOfAll,
  textOrNull,
  word,
} from "./values.ts";

const fault = expect.objectContaining({ kind: "internal" });
const thrown = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("count", () => {
  test("is a number up to what JSON carries without loss", () => {
    expect(count(0n)).toBe(0);
    expect(count(2n ** 53n - 1n)).toBe(Number.MAX_SAFE_INTEGER);
  });
  test.each([2n ** 53n, -1n])("is never a rounded or negative number: %s", (value) => {
    expect(thrown(() => count(value))).toEqual(fault);
  });
});

test("instants are RFC 3339 in UTC with milliseconds", () => {
  const at = {
    $typeName: "google.protobuf.Timestamp",
    seconds: 1_795_262_400n,
    nanos: 5_000_000,
  } as const;
  expect(instant(at, "x")).toBe("2026-11-21T12:00:00.005Z");
  expect(instantOrNull(undefined)).toBeNull();
  expect(thrown(() => instant(undefined, "x"))).toEqual(fault);
});

test("an empty text is null where there may be none", () => {
  expect([textOrNull(""), textOrNull("a")]).toEqual([null, "a"]);
});

test("a word outside its closed set is a fault, not passed through", () => {
  expect(oneOf(["a", "b"], "b", "x")).toBe("b");
  expect(thrown(() => oneOf(["a"], "c", "x"))).toEqual(fault);
  expect(oneOfOrNull(["a"], "", "x")).toBeNull();
  expect(word({ 1: "live" }, 1, "x")).toBe("live");
  expect(thrown(() => word({ 1: "live" }, 0, "x"))).toEqual(fault);
});

test("a list that is whole is paged by its keys, each item once, whatever its order", () => {
  const all = ["c", "a", "e", "b", "d"];
  const walk = (limit: number) => {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = pageOfAll(all, (item) => item, { limit, cursor });
      pages.push(page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return pages;
  };
  expect(walk(2)).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  expect(walk(5)).toEqual([["a", "b", "c", "d", "e"]]);
  expect(pageOfAll([], String, { limit: 1 })).toEqual({ items: [], next_cursor: null });
});
