import { randomUUID } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { link, lstat, mkdir, opendir, realpath, rm, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { ObjectStoreError, quoted } from "../errors.ts";
import type { ObjectStore } from "../object-store.ts";
import { kindOf } from "./directories.ts";
import { attempt, failedWith } from "./file-failure.ts";
import { fileObjectStore, PATTERN } from "./file-object-store.ts";
import { requireStore } from "./file-root.ts";
import { segmentNames } from "./segment-names.ts";

/** No bucket can have this name. */
const UPLOADS = ".lapse-uploads";

/** At most 40 MB for names of 50 characters; a directory of a million files is read 4 times. */
const WINDOW_ENTRIES = 262_144;

/** A put writes its file all the while, so one that stood still for a day is a dead process's. */
const ABANDONED_AFTER_NS = 24n * 60n * 60n * 1_000_000_000n;

/**
 * Opens the directory `path` as an object store, creating it when missing; proves that files can be
 * written and linked there, finds out whether the file system folds case, and sweeps what puts of
 * killed processes left behind.
 *
 * @throws ObjectStoreError `invalid` for a path that is not absolute or that DuckDB would read as a
 *   pattern; `unavailable` where it cannot be written to.
 */
export async function openFileStore(path: string): Promise<ObjectStore> {
  if (!isAbsolute(path) || path.includes("\0") || PATTERN.test(path)) {
    throw new ObjectStoreError(
      "invalid",
      `Object store path ${quoted(path)} is refused: it must be absolute and without "*", "?" and "[".`,
    );
  }
  return attempt(`open the object store at ${quoted(path)}`, async () => {
    await mkdir(path, { recursive: true });
    const real = await realpath(path);
    const uploads = join(real, UPLOADS);
    await mkdir(uploads, { recursive: true });
    const { foldsCase, now } = await probe(uploads);
    await sweep(uploads, now - ABANDONED_AFTER_NS);
    const names = segmentNames(foldsCase);
    const root = { path: real, uploads, names, windowEntries: WINDOW_ENTRIES };
    await requireStore(root);
    return fileObjectStore(root);
  });
}

/** Tries out the file system; `now` is its own clock, in nanoseconds since 1970. */
async function probe(directory: string): Promise<{ foldsCase: boolean; now: bigint }> {
  const name = randomUUID();
  const file = join(directory, `${name}-a`);
  const linked = join(directory, `${name}-b`);
  try {
    await writeFile(file, name, { flag: "wx" });
    await link(file, linked);
    const { mtimeNs } = await lstat(file, { bigint: true });
    const foldsCase = (await kindOf(join(directory, `${name}-A`))) === "file";
    return { foldsCase, now: mtimeNs };
  } finally {
    await rm(file, { force: true });
    await rm(linked, { force: true });
  }
}

async function sweep(uploads: string, abandonedBefore: bigint): Promise<void> {
  for await (const { name } of await opendir(uploads)) {
    const upload = join(uploads, name);
    const stats = await statIfThere(upload);
    if (stats?.isFile() && stats.mtimeNs < abandonedBefore) await rm(upload, { force: true });
  }
}

async function statIfThere(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (failedWith(error, "ENOENT")) return null;
    throw error;
  }
}
