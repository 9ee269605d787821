import { ObjectStoreError, quoted } from "../errors.ts";
import { checkPrefix, exceedsKeyLimit, MAX_KEY_BYTES } from "../object-key.ts";
import type { KeyRange, ObjectPage, ObjectStat, ObjectStore } from "../object-store.ts";
import { bucketExists, createBucket, deleteBucket } from "./buckets.ts";
import { deleteObject } from "./delete-object.ts";
import { attempt, fileFailure } from "./file-failure.ts";
import { type FileRoot, objectPath, requireBucket, statObject } from "./file-root.ts";
import { getObject } from "./get-object.ts";
import { putObject } from "./put-object.ts";
import { type WalkRange, walkObjects } from "./walk-objects.ts";

const MAX_PAGE = 1000;

/** What DuckDB takes for a pattern rather than a name. */
export const PATTERN = /[*?[]/;

/** The `file` adapter: a directory as an {@link ObjectStore}. Its layout: `segment-names.ts`. */
export function fileObjectStore(root: FileRoot): ObjectStore {
  return {
    createBucket: (bucket) => createBucket(root, bucket),
    deleteBucket: (bucket) => deleteBucket(root, bucket),
    bucketExists: (bucket) => bucketExists(root, bucket),
    async put(bucket, key, body, { ifNoneMatch } = {}) {
      const { etag, size } = await putObject(root, bucket, key, body, ifNoneMatch === "*");
      return { etag, size };
    },
    get: (bucket, key, { range } = {}) => getObject(root, bucket, key, range),
    head: (bucket, key) => headObject(root, bucket, key),
    list: (bucket, { limit = MAX_PAGE, ...range } = {}) => listPage(root, bucket, range, limit),
    walk: (bucket, range = {}) => walk(root, bucket, range),
    delete: (bucket, key, { ifMatch } = {}) => deleteObject(root, bucket, key, ifMatch),
    uri: (bucket, key) => fileUri(root, bucket, key),
    async close() {},
  };
}

async function headObject(root: FileRoot, bucket: string, key: string): Promise<ObjectStat | null> {
  return attempt(`look at ${quoted(key)} in bucket ${quoted(bucket)}`, async () => {
    const stat = await statObject(objectPath(root, bucket, key), key);
    if (stat === null) await requireBucket(root, bucket);
    return stat;
  });
}

async function listPage(
  root: FileRoot,
  bucket: string,
  range: KeyRange,
  limit: number,
): Promise<ObjectPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new ObjectStoreError("invalid", `Limit ${limit} is refused: it takes 1 to ${MAX_PAGE}.`);
  }
  const objects: ObjectStat[] = [];
  const windowEntries = Math.min(root.windowEntries, limit + 1);
  for await (const object of walk({ ...root, windowEntries }, bucket, range)) {
    if (objects.length === limit) return { objects, next: objects.at(-1)?.key ?? null };
    objects.push(object);
  }
  return { objects, next: null };
}

async function* walk(root: FileRoot, bucket: string, range: KeyRange): AsyncGenerator<ObjectStat> {
  try {
    const checked = checkedRange(range);
    await requireBucket(root, bucket);
    for await (const objects of walkObjects(root, bucket, checked)) yield* objects;
  } catch (error) {
    throw fileFailure(error, `list bucket ${quoted(bucket)}`);
  }
}

function checkedRange({ prefix = "", startAfter }: KeyRange): WalkRange {
  checkPrefix(prefix);
  if (startAfter !== undefined && exceedsKeyLimit(startAfter)) {
    throw new ObjectStoreError(
      "invalid",
      `The key to start after is longer than ${MAX_KEY_BYTES} bytes.`,
    );
  }
  return { prefix, startAfter: startAfter ?? null };
}

function fileUri(root: FileRoot, bucket: string, key: string): string {
  const path = objectPath(root, bucket, key);
  if (PATTERN.test(path)) {
    throw new ObjectStoreError(
      "invalid",
      `Key ${quoted(key)} has no address: "*", "?" and "[" in it would be read as a pattern.`,
    );
  }
  return `file://${path}`;
}
