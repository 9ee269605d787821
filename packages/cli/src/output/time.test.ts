import { describe, expect, test } from "@jest/globals";
import { distance, instantText } from "./time.ts";

const now = new Date("2026-11-30T12:00:00Z");
const at = (ms: number) => new Date(now.getTime() + ms);

describe("distance", () => {
  test.each([
    [0, "now"],
    [400, "now"],
    [5_000, "in 5 s"],
    [-65_000, "1 min 5 s ago"],
    [3_600_000, "in 1 h"],
    [3_600_000 + 5_000, "in 1 h"],
    [7 * 86_400_000 - 1, "in 6 d 23 h"],
  ])("%d ms reads %s", (ms, text) => {
    expect(distance(at(ms), now)).toBe(text);
  });
});

describe("instantText", () => {
  test("shows UTC to the second and the distance", () => {
    expect(instantText(new Date("2026-12-01T12:00:00.123Z"), now)).toBe(
      "2026-12-01 12:00:00Z (in 1 d)",
    );
  });
  test("shows a dash for no instant", () => {
    expect(instantText(null, now)).toBe("–");
  });
});
