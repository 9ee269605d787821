import { expect, test } from "@jest/globals";
import { nodeFault } from "./node-version.ts";

test.each(["18.20.0", "20.18.3"])("Node.js %s is refused with a sentence", (version) => {
  expect(nodeFault(version)).toContain(`needs Node.js 20.19 or later; this is ${version}`);
});

test.each(["20.19.0", "20.20.2", "22.1.0", "24.0.0"])("Node.js %s will do", (version) => {
  expect(nodeFault(version)).toBeUndefined();
});
