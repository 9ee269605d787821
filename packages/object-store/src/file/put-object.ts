import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { link, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { ObjectStoreError, quoted } from "../errors.ts";
import type { ObjectBody, ObjectStat } from "../object-store.ts";
import {
  keyTaken,
  kindOf,
  makeDirectories,
  removeEmptyTree,
  syncDirectories,
} from "./directories.ts";
import { attempt, failedWith } from "./file-failure.ts";
import {
  bucketPath,
  type FileRoot,
  isRealDirectory,
  objectPath,
  requireBucket,
} from "./file-root.ts";
import { objectStat } from "./object-stat.ts";

/** Each retry means that another caller's delete removed a directory in between. */
const MAX_TRIES = 100;

/**
 * Stores a body under a key: written to a file of its own beside the buckets, made durable, then
 * moved into place in one step. A crash before that step leaves nothing that a reader could see;
 * the next start of a store sweeps the rest.
 */
export async function putObject(
  root: FileRoot,
  bucket: string,
  key: string,
  body: ObjectBody,
  createOnly: boolean,
): Promise<ObjectStat> {
  try {
    return await attempt(`put ${quoted(key)} into bucket ${quoted(bucket)}`, async () => {
      const target = objectPath(root, bucket, key);
      await requireBucket(root, bucket);
      const upload = join(root.uploads, randomUUID());
      try {
        const stat = await writeUpload(upload, key, body);
        await publish(root, bucket, key, { upload, target, createOnly });
        return stat;
      } finally {
        await rm(upload, { force: true });
      }
    });
  } catch (error) {
    throw error instanceof BodyFailure ? error.cause : error;
  } finally {
    if (body instanceof Readable) body.destroy();
  }
}

async function writeUpload(upload: string, key: string, body: ObjectBody): Promise<ObjectStat> {
  const handle = await open(upload, "wx", 0o644);
  try {
    if (body instanceof Uint8Array) await handle.writeFile(body);
    else await writeStream(handle, body);
    await handle.sync();
    return objectStat(key, await handle.stat({ bigint: true }));
  } finally {
    await handle.close();
  }
}

async function writeStream(handle: FileHandle, body: Readable): Promise<void> {
  for await (const chunk of chunksOf(body)) await handle.writeFile(chunk);
}

async function* chunksOf(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      if (chunk instanceof Uint8Array) yield chunk;
      else if (typeof chunk === "string") yield Buffer.from(chunk);
      else throw new TypeError("A body's chunks must be bytes or strings.");
    }
  } catch (error) {
    throw new BodyFailure(error);
  }
}

/** Carries the body's own error past the naming of file errors, which it may look like. */
class BodyFailure extends Error {
  constructor(cause: unknown) {
    super("The body failed.", { cause });
  }
}

interface Publication {
  readonly upload: string;
  readonly target: string;
  readonly createOnly: boolean;
}

async function publish(
  root: FileRoot,
  bucket: string,
  key: string,
  move: Publication,
): Promise<void> {
  const top = bucketPath(root, bucket);
  const parent = dirname(move.target);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ready = (await isRealDirectory(parent)) || (await makeDirectories(top, parent, key));
    if (!ready) await requireBucket(root, bucket);
    else if (await moveIntoPlace(key, move)) return syncDirectories(top, parent);
  }
  throw new ObjectStoreError(
    "unavailable",
    `Key ${quoted(key)} cannot be stored: its directory kept being removed meanwhile.`,
  );
}

/** @returns false where what stood in the way is gone: try again */
async function moveIntoPlace(key: string, move: Publication): Promise<boolean> {
  try {
    // A link, unlike a rename, fails where the name is taken: of many creators one wins.
    await (move.createOnly ? link : rename)(move.upload, move.target);
    return true;
  } catch (error) {
    if (failedWith(error, "ENOENT", "ENOTDIR")) return false;
    if (!failedWith(error, "EEXIST", "EISDIR", "ENOTEMPTY")) throw error;
  }
  const kind = await kindOf(move.target);
  if (kind === "file" && move.createOnly) {
    throw new ObjectStoreError("precondition", `Key ${quoted(key)} has an object already.`);
  }
  if (kind === "other") throw keyTaken(key, "a symbolic link or special file is in the way");
  if (kind === "directory" && !(await removeEmptyTree(move.target))) {
    throw keyTaken(
      key,
      "other keys lie under it, and a directory store cannot keep a key under another object's key",
    );
  }
  return false;
}
