import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { rotatingSecret } from "./secret-file.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lapse-secret-"));
  file = join(directory, "token");
  writeFileSync(file, "one\n");
});
afterEach(() => rmSync(directory, { recursive: true }));

/** As secrets are replaced: written beside, then renamed over. */
function replace(content: string): void {
  writeFileSync(`${file}.next`, content);
  renameSync(`${file}.next`, file);
}

test("a secret that is replaced is read again", () => {
  const secret = rotatingSecret(file, "one", 0);
  expect(secret()).toBe("one");
  replace("two\n");
  expect(secret()).toBe("two");
});

test("the last value stays while the file is away or empty", () => {
  const secret = rotatingSecret(file, "one", 0);
  rmSync(file);
  expect(secret()).toBe("one");
  replace("");
  expect(secret()).toBe("one");
  replace("three");
  expect(secret()).toBe("three");
});

test("the file is not looked at for every use", () => {
  const secret = rotatingSecret(file, "one", 60_000);
  replace("two");
  expect(secret()).toBe("one");
});
