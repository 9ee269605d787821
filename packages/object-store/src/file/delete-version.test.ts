import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, realpath, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { takeOverClaim } from "./claim.ts";
import { deleteVersion } from "./delete-version.ts";
import { statObject } from "./file-root.ts";
import { isClaim } from "./segment-names.ts";

jest.setTimeout(60_000);

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "lapse-version-")));
  path = join(directory, "k");
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

type Delete = (path: string, key: string, etag: string) => Promise<void>;

const lookThenUnlink: Delete = async (at, key, etag) => {
  const found = await statObject(at, key);
  if (found?.etag === etag) await unlink(at);
};

async function writeVersion(text: string): Promise<string> {
  await writeFile(path, text);
  const stat = await statObject(path, "k");
  return stat?.etag ?? "";
}

/** Starts a delete and does `meanwhile` after so many turns of the event loop. */
async function during(deleting: Promise<void>, turns: number, meanwhile: () => unknown) {
  for (let turn = 0; turn < turns; turn++) await setImmediate();
  await meanwhile();
  const [outcome] = await Promise.allSettled([deleting]);
  return outcome;
}

describe("deleteVersion", () => {
  /** Overwrites the object at ever other moments of a delete of its old version. */
  async function lostOf(rounds: number, deleteIf: Delete): Promise<number> {
    let lost = 0;
    for (let round = 0; round < rounds; round++) {
      const old = await writeVersion("old");
      const upload = join(directory, "upload");
      writeFileSync(upload, "new");
      await during(deleteIf(path, "k", old), round % 25, () => renameSync(upload, path));
      const left = await readFile(path, "utf8").catch(() => null);
      if (left === null) lost += 1;
      else expect(left).toBe("new");
    }
    return lost;
  }

  test("F15 a version that is put at any moment of the delete of the older one survives", async () => {
    expect(await lostOf(500, deleteVersion)).toBe(0);
    expect(await readdir(directory)).toEqual(["k"]);
  });

  test("a look and then an unlink loses some of them", async () => {
    expect(await lostOf(500, lookThenUnlink)).toBeGreaterThan(0);
  });

  test("the object goes, at whatever moment another takes over the claim", async () => {
    let takenOver = 0;
    for (let round = 0; round < 300; round++) {
      const etag = await writeVersion("old");
      await during(deleteVersion(path, "k", etag), round % 10, async () => {
        const claims = readdirSync(directory).filter(isClaim);
        takenOver += claims.length;
        await Promise.all(claims.map((claim) => takeOverClaim(join(directory, claim))));
      });
      expect(await readdir(directory)).toEqual([]);
    }
    expect(takenOver).toBeGreaterThan(0);
  });
});
