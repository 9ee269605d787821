import { describe, expect, test } from "@jest/globals";
import { droppedCursor, liveCursor, pageOf, parseLimit } from "./page.ts";
import type { Faults } from "./parse.ts";

const MIB = 1024 * 1024;
const page = (sizes: number[], limit: number) =>
  pageOf(
    sizes.map((size, index) => ({ size, index })),
    limit,
    ({ index }) => String(index),
    ({ size }) => size,
  );

describe("pageOf", () => {
  test("has a cursor exactly when there is more", () => {
    expect(page([1, 1, 1], 2)).toMatchObject({ items: [{}, {}], nextCursor: "1" });
    expect(page([1, 1], 2)).toMatchObject({ items: [{}, {}], nextCursor: "" });
    expect(page([], 2)).toEqual({ items: [], nextCursor: "" });
  });

  test("ends early where its rows are large, and always goes on", () => {
    expect(page([MIB / 2, MIB / 2, 1, 1], 10)).toMatchObject({
      items: [{}, {}, {}],
      nextCursor: "2",
    });
    expect(page([2 * MIB, 1], 10)).toMatchObject({ items: [{}], nextCursor: "0" });
    expect(page([2 * MIB], 10)).toMatchObject({ items: [{}], nextCursor: "" });
  });
});

describe("cursors", () => {
  test("come back as they were written", () => {
    const faults: Faults = [];
    const live = { namespace: "brönze.raw", name: "t" };
    expect(liveCursor.read(faults, liveCursor.write(live))).toEqual(live);
    const dropped = { droppedAt: new Date(1), tableId: "01900000-0000-7000-8000-000000000001" };
    expect(droppedCursor.read(faults, droppedCursor.write(dropped))).toEqual(dropped);
    expect(liveCursor.read(faults, "")).toBeUndefined();
    expect(faults).toEqual([]);
  });

  test.each([
    "x",
    Buffer.from("[1,2,3]").toString("base64url"),
    Buffer.from('["live","a"]').toString("base64url"),
    Buffer.from('["live","a\\u0000","b"]').toString("base64url"),
    droppedCursor.write({
      droppedAt: new Date(1),
      tableId: "01900000-0000-7000-8000-000000000001",
    }),
  ])("refuse %j, which is none of theirs", (text) => {
    const faults: Faults = [];
    expect(liveCursor.read(faults, text)).toBeUndefined();
    expect(faults).toMatchObject([{ field: "/cursor" }]);
  });

  test("of dropped tables refuse a time or an id that is none", () => {
    for (const parts of [
      ["dropped", "yesterday", "01900000-0000-7000-8000-000000000001"],
      ["dropped", "2026-01-01T00:00:00Z", "x"],
    ]) {
      const faults: Faults = [];
      droppedCursor.read(faults, Buffer.from(JSON.stringify(parts)).toString("base64url"));
      expect(faults).toHaveLength(1);
    }
  });
});

describe("parseLimit", () => {
  test("is 100 unless given, and 1000 at most", () => {
    const faults: Faults = [];
    expect([0, 1, 1_000].map((limit) => parseLimit(faults, limit))).toEqual([100, 1, 1_000]);
    expect(faults).toEqual([]);
    parseLimit(faults, -1);
    parseLimit(faults, 1_001);
    expect(faults).toHaveLength(2);
  });
});
