import { expect, test } from "@jest/globals";
import { DEFAULT_TIMING } from "./timing.ts";

test("T23 a process that dies is replaced within 30 s: its lease and a look by another are shorter together", () => {
  expect(DEFAULT_TIMING.leaseTtlMs * (4 / 3)).toBeLessThan(30_000);
});
