import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Harness, startHarness } from "./harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());

test("x", async () => {
  const { json, status, text } = await harness.call("GET", "/openapi.json", { token: null });
  (await import("node:fs")).writeFileSync("/tmp/openapi.json", JSON.stringify(json, null, 1));
  expect(status).toBe(200);
  expect(text).toBeTruthy();
});
