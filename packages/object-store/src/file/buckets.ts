import { mkdir } from "node:fs/promises";
import { ObjectStoreError, quoted } from "../errors.ts";
import { kindOf, removeEmptyTree, syncDirectory } from "./directories.ts";
import { attempt, failedWith } from "./file-failure.ts";
import { bucketPath, type FileRoot, isRealDirectory, requireStore } from "./file-root.ts";
import { walkObjects } from "./walk-objects.ts";

/** Makes the bucket's directory; a link or file of its name is never taken for one. */
export async function createBucket(root: FileRoot, bucket: string): Promise<void> {
  await attempt(`create bucket ${quoted(bucket)}`, async () => {
    const path = bucketPath(root, bucket);
    await requireStore(root);
    try {
      await mkdir(path);
    } catch (error) {
      if (!failedWith(error, "EEXIST")) throw error;
      if ((await kindOf(path)) !== "directory") {
        throw new ObjectStoreError(
          "precondition",
          `Bucket ${quoted(bucket)} cannot be created: its name is taken by something that is not a directory.`,
        );
      }
    }
    await syncDirectory(root.path);
  });
}

/** Removes the bucket's directory with what empty directories are left in it. */
export async function deleteBucket(root: FileRoot, bucket: string): Promise<void> {
  await attempt(`delete bucket ${quoted(bucket)}`, async () => {
    const path = bucketPath(root, bucket);
    if (!(await bucketExists(root, bucket))) return;
    if (await hasObjects(root, bucket)) {
      throw new ObjectStoreError("precondition", `Bucket ${quoted(bucket)} is not empty.`);
    }
    if (!(await removeEmptyTree(path))) {
      throw new ObjectStoreError(
        "precondition",
        `Bucket ${quoted(bucket)} holds files that are not objects; look into ${quoted(path)}.`,
      );
    }
    await syncDirectory(root.path);
  });
}

export async function bucketExists(root: FileRoot, bucket: string): Promise<boolean> {
  return attempt(`look for bucket ${quoted(bucket)}`, async () => {
    if (await isRealDirectory(bucketPath(root, bucket))) return true;
    await requireStore(root);
    return false;
  });
}

async function hasObjects(root: FileRoot, bucket: string): Promise<boolean> {
  for await (const objects of walkObjects(root, bucket, { prefix: "", startAfter: null })) {
    if (objects.length > 0) return true;
  }
  return false;
}
