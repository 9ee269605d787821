import { unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { quoted } from "../errors.ts";
import { deleteVersion } from "./delete-version.ts";
import { pruneDirectories } from "./directories.ts";
import { attempt, failedWith } from "./file-failure.ts";
import { bucketPath, type FileRoot, objectPath, requireBucket, statObject } from "./file-root.ts";

/**
 * Deletes an object and the directories that it leaves empty. One that is missing is pruned after
 * all the same, so that a repeated delete finishes what a killed one began.
 */
export async function deleteObject(
  root: FileRoot,
  bucket: string,
  key: string,
  ifMatch: string | undefined,
): Promise<void> {
  await attempt(`delete ${quoted(key)} from bucket ${quoted(bucket)}`, async () => {
    const path = objectPath(root, bucket, key);
    await requireBucket(root, bucket);
    if (ifMatch !== undefined) await deleteVersion(path, key, ifMatch);
    else if ((await statObject(path, key)) !== null) await unlinkFile(path);
    await pruneDirectories(bucketPath(root, bucket), dirname(path));
  });
}

async function unlinkFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    // Gone, or replaced by a directory, since it was looked at: either way the object is no more.
    if (!failedWith(error, "ENOENT", "ENOTDIR", "EISDIR")) throw error;
  }
}
