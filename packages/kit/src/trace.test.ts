import { expect, test } from "@jest/globals";
import { continueTrace, newTrace, traceId } from "./trace.ts";

const GIVEN = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

test("a trace that came with a call goes on", () => {
  expect(continueTrace(GIVEN)).toBe(GIVEN);
  expect(traceId(GIVEN)).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
});

test.each([
  undefined,
  "",
  "garbage",
  GIVEN.toUpperCase(),
  GIVEN.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0".repeat(32)),
  GIVEN.replace("00f067aa0ba902b7", "0".repeat(16)),
  GIVEN.replace(/^00/, "ff"),
  `${GIVEN}\r\nx: y`,
])("a new trace starts instead of %p", (value) => {
  const started = continueTrace(value);
  expect(started).not.toBe(value);
  expect(traceId(started)).toMatch(/^[0-9a-f]{32}$/);
});

test("no two traces are the same", () => {
  expect(newTrace()).not.toBe(newTrace());
});
