import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { ObjectStoreError, quoted } from "../errors.ts";
import type { ByteRange, ObjectContent } from "../object-store.ts";
import { attempt, failedWith } from "./file-failure.ts";
import { type FileRoot, isRealDirectory, objectPath, requireBucket } from "./file-root.ts";
import { objectStat } from "./object-stat.ts";
import { readContents } from "./read-contents.ts";

// Non-blocking, as opening a named pipe would otherwise wait for its writer.
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens an object; stat and body are of the one version that was opened. */
export async function getObject(
  root: FileRoot,
  bucket: string,
  key: string,
  range: ByteRange | undefined,
): Promise<ObjectContent> {
  const doing = `get ${quoted(key)} from bucket ${quoted(bucket)}`;
  return attempt(doing, async () => {
    const path = objectPath(root, bucket, key);
    const handle = await openFile(path);
    if (handle === null) {
      await requireBucket(root, bucket);
      throw noObject(key);
    }
    try {
      const stats = await handle.stat({ bigint: true });
      if (!stats.isFile() || !(await isRealDirectory(dirname(path)))) throw noObject(key);
      const stat = objectStat(key, stats);
      const { start, end } = boundsOf(range, stat.size);
      return { stat, body: readContents(handle, { start, end, doing }) };
    } catch (error) {
      await handle.close();
      throw error;
    }
  });
}

async function openFile(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, READ_FLAGS);
  } catch (error) {
    // ELOOP: the name is a symbolic link; ENXIO: a socket.
    if (failedWith(error, "ENOENT", "ENOTDIR", "ELOOP", "ENXIO")) return null;
    throw error;
  }
}

function noObject(key: string): ObjectStoreError {
  return new ObjectStoreError("not_found", `Key ${quoted(key)} has no object.`);
}

function boundsOf(range: ByteRange | undefined, size: number): { start: number; end: number } {
  if (range === undefined) return { start: 0, end: size };
  const { offset, length = size } = range;
  const sound = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && length > 0;
  if (!sound || offset < 0 || offset >= size) {
    throw new ObjectStoreError(
      "invalid",
      `The range of ${range.length ?? "all"} bytes from ${offset} is not inside the ${size} bytes of the object.`,
    );
  }
  return { start: offset, end: Math.min(size, offset + length) };
}
