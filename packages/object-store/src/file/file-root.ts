import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ObjectStoreError, quoted } from "../errors.ts";
import { checkBucket, checkKey } from "../object-key.ts";
import type { ObjectStat } from "../object-store.ts";
import { failedWith } from "./file-failure.ts";
import { objectStat } from "./object-stat.ts";
import type { SegmentNames } from "./segment-names.ts";

/** The directory of an open store: `<path>/<bucket>/<key>`, and `uploads` for puts under way. */
export interface FileRoot {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** A directory beside the buckets, whose name no bucket can have; outside every listing. */
  readonly uploads: string;
  readonly names: SegmentNames;
  /** So many entries of one directory are in memory at a time; a larger one is read in turns. */
  readonly windowEntries: number;
}

/** @throws ObjectStoreError `invalid` */
export function bucketPath(root: FileRoot, bucket: string): string {
  checkBucket(bucket);
  return join(root.path, bucket);
}

/** The one place where a key becomes a path. @throws ObjectStoreError `invalid` */
export function objectPath(root: FileRoot, bucket: string, key: string): string {
  checkKey(key);
  return join(bucketPath(root, bucket), ...key.split("/").flatMap(root.names.encode));
}

/** The directory of the keys that start with `base`, which ends in a slash or is empty. */
export function directoryPath(root: FileRoot, bucket: string, base: string): string {
  const segments = base.split("/").slice(0, -1);
  return join(bucketPath(root, bucket), ...segments.flatMap(root.names.encode));
}

/**
 * Whether `path` is a directory that is reached without a symbolic link: a link planted in a bucket
 * leads nowhere (architecture rule 8).
 */
export async function isRealDirectory(path: string): Promise<boolean> {
  try {
    const [real, stats] = await Promise.all([realpath(path), lstat(path)]);
    return real === path && stats.isDirectory();
  } catch (error) {
    if (failedWith(error, "ENOENT", "ENOTDIR", "ELOOP")) return false;
    throw error;
  }
}

/** The object that is stored at `path`; null where there is none, or no regular file. */
export async function statObject(path: string, key: string): Promise<ObjectStat | null> {
  try {
    const stats = await lstat(path, { bigint: true });
    if (!stats.isFile() || !(await isRealDirectory(dirname(path)))) return null;
    return objectStat(key, stats);
  } catch (error) {
    if (failedWith(error, "ENOENT", "ENOTDIR", "ELOOP")) return null;
    throw error;
  }
}

/**
 * Refuses to take a missing file for a deleted one when the whole store is missing, as it is when
 * its disk is not mounted.
 *
 * @throws ObjectStoreError `unavailable`
 */
export async function requireStore(root: FileRoot): Promise<void> {
  if (await isRealDirectory(root.uploads)) return;
  throw new ObjectStoreError(
    "unavailable",
    `The object store at ${quoted(root.path)} is not there any more; is its disk mounted?`,
  );
}

/** @throws ObjectStoreError `not_found`, or as {@link requireStore} */
export async function requireBucket(root: FileRoot, bucket: string): Promise<void> {
  if (await isRealDirectory(bucketPath(root, bucket))) return;
  await requireStore(root);
  throw new ObjectStoreError("not_found", `Bucket ${quoted(bucket)} does not exist.`);
}
