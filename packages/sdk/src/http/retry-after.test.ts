import { expect, test } from "@jest/globals";
import { retryAfterMs } from "./retry-after.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");

test.each([
  ["seconds", "3", 3_000],
  ["nothing to wait for", "0", 0],
  ["an HTTP date", "Mon, 30 Nov 2026 12:00:05 GMT", 5_000],
  ["a date that has passed", "Mon, 30 Nov 2026 11:00:00 GMT", 0],
  ["none", undefined, null],
  ["an empty one", "", null],
  ["a negative one", "-1", null],
  ["a broken one", "soon", null],
  ["a bare year, which Date would take", "2026", 2_026_000],
  ["a number no timer takes", "99999999999", null],
])("Retry-After gives %s", (_, header, ms) => {
  expect(retryAfterMs(header, NOW)).toBe(ms);
});
