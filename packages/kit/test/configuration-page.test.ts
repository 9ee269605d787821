import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { settingsReference } from "../src/index.ts";

const PAGE = join(import.meta.dirname, "../../../docs/reference/configuration.md");

test("docs/reference/configuration.md lists the settings as they are (`npm run docs` writes it)", async () => {
  expect(await readFile(PAGE, "utf8")).toBe(settingsReference());
});
