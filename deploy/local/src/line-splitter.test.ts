import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { lineSplitter } from "./line-splitter.ts";

test("lines come out whole, however the text was cut", () => {
  const chunk = fc.string({ unit: fc.constantFrom("a", "b", "\n") });
  fc.assert(
    fc.property(fc.array(chunk), (chunks) => {
      const lines: string[] = [];
      const split = lineSplitter((line) => lines.push(line));
      for (const text of chunks) split(text);
      split(undefined);
      const whole = chunks.join("").split("\n");
      if (whole.at(-1) === "") whole.pop();
      expect(lines).toEqual(whole);
    }),
  );
});

test("a line without an end is let go of at a million characters", () => {
  const lines: string[] = [];
  const split = lineSplitter((line) => lines.push(line));
  split("x".repeat(1_000_001));
  expect(lines).toHaveLength(1);
});
