import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { takeLock } from "./process-lock.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "lapse-lock-"));
});
afterEach(() => rm(dir, { recursive: true }));

describe("takeLock", () => {
  test("is held until it is released, and leaves nothing behind", async () => {
    const path = join(dir, "lock");
    const first = takeLock(path);
    expect(takeLock(path)).toMatchObject({ kind: "held", holder: { pid: process.pid } });
    if (first.kind === "taken") first.release();
    expect(await readdir(dir)).toEqual([]);
    expect(takeLock(path).kind).toBe("taken");
  });

  test.each(['{"pid":1,"identity":"of an earlier boot"}', "", "half a li"])(
    "takes over a lock that nobody alive holds: %s",
    async (left) => {
      const path = join(dir, "lock");
      await writeFile(path, left);
      expect(takeLock(path).kind).toBe("taken");
      expect(await readdir(dir)).toEqual(["lock"]);
    },
  );

  test("releases once only: a second release does not take it from the next holder", () => {
    const path = join(dir, "lock");
    const first = takeLock(path);
    if (first.kind === "taken") first.release();
    takeLock(path);
    if (first.kind === "taken") first.release();
    expect(takeLock(path).kind).toBe("held");
  });
});
