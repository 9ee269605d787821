import { lstat, mkdir, open, readdir, realpath, rmdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { ObjectStoreError, quoted } from "../errors.ts";
import { failedWith } from "./file-failure.ts";

/** A name that a key needs as a directory, or as a file, is taken by the other. */
export function keyTaken(key: string, by: string): ObjectStoreError {
  return new ObjectStoreError("precondition", `Key ${quoted(key)} cannot be stored: ${by}.`);
}

/**
 * Makes the directories from `bucketPath` down to `path`, never the bucket itself, one level at a
 * time so that none is made through a symbolic link.
 *
 * @returns false when one went away meanwhile (a delete pruned it, or the bucket is gone): try again
 * @throws ObjectStoreError `precondition` where an object or a link is in the way of `key`
 */
export async function makeDirectories(
  bucketPath: string,
  path: string,
  key: string,
): Promise<boolean> {
  let level = bucketPath;
  for (const name of relative(bucketPath, path).split("/")) {
    if (name === "") continue;
    level = join(level, name);
    try {
      await mkdir(level);
    } catch (error) {
      if (failedWith(error, "ENOENT", "ENOTDIR")) return false;
      if (!failedWith(error, "EEXIST")) throw error;
      const kind = await kindOf(level);
      if (kind === "missing") return false;
      if (kind === "file") {
        throw keyTaken(
          key,
          "a part of it up to a slash is an object, and a directory store cannot keep a key under another object's key",
        );
      }
      if (kind === "other") throw keyTaken(key, "a symbolic link or special file is in the way");
    }
  }
  return true;
}

/** What stands at `path`; links are not followed. */
export async function kindOf(path: string): Promise<"file" | "directory" | "other" | "missing"> {
  try {
    const stats = await lstat(path);
    if (stats.isDirectory()) return "directory";
    return stats.isFile() ? "file" : "other";
  } catch (error) {
    if (failedWith(error, "ENOENT", "ENOTDIR")) return "missing";
    throw error;
  }
}

/**
 * Removes the directories that a deleted object leaves empty, from `path` up to, not including,
 * `bucketPath`, and makes the deletion durable.
 */
export async function pruneDirectories(bucketPath: string, path: string): Promise<void> {
  let level = path;
  while (level !== bucketPath && (await removeIfEmpty(level))) level = dirname(level);
  await syncDirectory(level);
}

/** @returns whether the directory is gone */
async function removeIfEmpty(path: string): Promise<boolean> {
  try {
    // A path through a planted link could be an empty directory that is not the store's.
    if ((await realpath(path)) !== path) return false;
    await rmdir(path);
    return true;
  } catch (error) {
    if (failedWith(error, "ENOENT")) return true;
    if (failedWith(error, "ENOTEMPTY", "EEXIST", "ENOTDIR", "EBUSY")) return false;
    throw error;
  }
}

/** Removes `path` with all that lies in it, provided that it is nothing but directories. */
export async function removeEmptyTree(path: string): Promise<boolean> {
  try {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (!entry.isDirectory()) return false;
      if (!(await removeEmptyTree(join(path, entry.name)))) return false;
    }
  } catch (error) {
    if (failedWith(error, "ENOENT")) return true;
    if (failedWith(error, "ENOTDIR")) return false;
    throw error;
  }
  return removeIfEmpty(path);
}

/**
 * Makes the way to an object survive the death of the machine: the names in `path` and in every
 * directory up to the bucket. All of them, as another put may have made one and not synced it yet;
 * one that has nothing new costs next to nothing.
 */
export async function syncDirectories(bucketPath: string, path: string): Promise<void> {
  for (let level = path; ; level = dirname(level)) {
    await syncDirectory(level);
    if (level === bucketPath) return;
  }
}

/** Makes the names in a directory survive the death of the machine; one that is gone is fine. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const handle = await open(path, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!failedWith(error, "ENOENT", "ENOTDIR")) throw error;
  }
}
