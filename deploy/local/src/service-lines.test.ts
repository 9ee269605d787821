import { describe, expect, test } from "@jest/globals";
import { notableServiceLine } from "./service-lines.ts";

describe("notableServiceLine", () => {
  test.each([
    ['{"level":30,"msg":"listening"}', undefined],
    ['{"level":"info","msg":"listening"}', undefined],
    ['{"level":40,"msg":"slow"}', "warning: slow"],
    ['{"level":"warn","msg":"slow"}', "warning: slow"],
    ['{"level":50,"msg":"failed","err":{"message":"no route"}}', "error: failed: no route"],
    ['{"level":60,"err":{"message":"gone"},"msg":"gone"}', "fatal: gone"],
    ["Error: Cannot find module", "Error: Cannot find module"],
    ["{ not json", "{ not json"],
    ["  ", undefined],
  ])("shows of %s: %s", (line, shown) => {
    expect(notableServiceLine(line)).toBe(shown);
  });
});
