import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { LogFile } from "./log-file.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "lapse-log-"));
});
afterEach(() => rm(dir, { recursive: true }));

test("a log goes on where the last run left it", async () => {
  const path = join(dir, "a.log");
  for (const line of ["first", "second"]) {
    const log = new LogFile(path);
    log.writeLine(line);
    await log.close();
  }
  expect(await readFile(path, "utf8")).toBe("first\nsecond\n");
});

test("a log that reaches its limit is set aside, and only the last one is kept", async () => {
  const path = join(dir, "a.log");
  const log = new LogFile(path, 10);
  for (const line of ["one", "two", "three", "four", "five"]) log.writeLine(line);
  await log.close();
  expect(await readFile(`${path}.1`, "utf8")).toBe("three\n");
  expect(await readFile(path, "utf8")).toBe("four\nfive\n");
});
