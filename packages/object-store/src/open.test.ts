import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type ObjectStoreSettings, openObjectStore } from "./open.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lapse-open-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

describe("openObjectStore", () => {
  test("creates the directory, and opens it again with what it holds", async () => {
    const path = join(directory, "new", "store");
    const first = await openObjectStore({ kind: "file", path });
    await first.createBucket("acme--lake");
    await first.close();
    const second = await openObjectStore({ kind: "file", path });
    expect(await second.bucketExists("acme--lake")).toBe(true);
  });

  test("opens a directory that holds files, and leaves them alone", async () => {
    await writeFile(join(directory, "notes.txt"), "x");
    await openObjectStore({ kind: "file", path: directory });
    expect(await readdir(directory)).toEqual([".lapse-uploads", "notes.txt"]);
    expect(await readdir(join(directory, ".lapse-uploads"))).toEqual([]);
  });

  test.each(["s3", "gcs", "", "../file"])("a kind that there is not is named: %j", async (kind) => {
    const settings = { kind, path: directory } as ObjectStoreSettings;
    await expect(openObjectStore(settings)).rejects.toMatchObject({
      kind: "invalid",
      message: `Object store kind ${JSON.stringify(kind)} is not available; use "file".`,
    });
  });

  test.each(["", "data", "./data", "../data", "/data\0", "/data/*", "/data/[a]", "/data?"])(
    "rule 8: a path that is relative or a pattern is refused: %j",
    async (path) => {
      await expect(openObjectStore({ kind: "file", path })).rejects.toMatchObject({
        kind: "invalid",
      });
    },
  );

  test("a path that is a file, or leads through one, is unavailable", async () => {
    const file = join(directory, "file");
    await writeFile(file, "x");
    for (const path of [file, join(file, "below")]) {
      await expect(openObjectStore({ kind: "file", path })).rejects.toMatchObject({
        name: "ObjectStoreError",
        kind: "unavailable",
        message: expect.stringMatching(/^Cannot open the object store at .*\.$/),
      });
    }
  });
});
