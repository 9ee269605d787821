import { describe, expect, test } from "@jest/globals";
import { type FoldedTo, firstBehind, type StreamHead } from "./fence.ts";

const CREATED = new Date("2026-05-01T00:00:00Z");
const head = (sequence: bigint, stream: StreamHead["stream"] = "ACTIVITY"): StreamHead => ({
  stream,
  sequence,
  streamCreatedAt: CREATED,
});
const folded = (sequence: bigint, streamCreatedAt: Date | null = CREATED): Map<string, FoldedTo> =>
  new Map([["ACTIVITY", { sequence, streamCreatedAt }]]);

describe("firstBehind", () => {
  test("nobody is once the position is at the head, or past it", () => {
    expect(firstBehind([head(5n)], folded(5n))).toBeUndefined();
    expect(firstBehind([head(5n)], folded(6n))).toBeUndefined();
  });

  test("a position before the head is", () => {
    expect(firstBehind([head(5n)], folded(4n))).toEqual(head(5n));
  });

  test("a position in another stream of the same name says nothing, however far it is", () => {
    expect(firstBehind([head(5n)], folded(999n, new Date(1)))).toEqual(head(5n));
    expect(firstBehind([head(0n)], folded(999n, new Date(1)))).toEqual(head(0n));
  });

  test("an empty stream needs no position", () => {
    expect(firstBehind([head(0n)], new Map())).toBeUndefined();
    expect(firstBehind([head(1n)], new Map())).toEqual(head(1n));
  });

  test("all streams must be passed", () => {
    expect(firstBehind([head(5n), head(1n, "CATALOG")], folded(5n))).toEqual(head(1n, "CATALOG"));
  });
});
