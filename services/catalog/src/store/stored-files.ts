import { buffer } from "node:stream/consumers";
import type { ObjectStore } from "@lapse/object-store";
import type { DataFile } from "../domain/data-file.ts";
import { hasMagic, integrityFault, type StoredFile } from "../domain/file-integrity.ts";
import type { Location } from "../domain/table.ts";
import { inTime } from "./in-time.ts";
import { storeFailure } from "./store-failure.ts";

/** A file that cannot be read as what the catalog takes it for. */
export interface FileFault {
  readonly path: string;
  readonly fault: string;
}

const CONCURRENT_FILES = 32;
const MAGIC_BYTES = 4;
const FILE_TIMEOUT_MS = 15_000;

/**
 * Looks at every file in the object store, many at once: is it there, of that size, whole (T28)?
 * Faults come in the order of the files.
 *
 * @throws unavailable when the store cannot say, or `signal` aborts.
 */
export async function findFileFaults(
  store: ObjectStore,
  location: Location,
  files: readonly Pick<DataFile, "path" | "byteSize">[],
  signal: AbortSignal,
): Promise<FileFault[]> {
  const faults = new Map<number, FileFault>();
  const waiting = files.entries();
  const work = async () => {
    for (const [index, file] of waiting) {
      signal.throwIfAborted();
      const stored = await inTime(inspect(store, location, file), FILE_TIMEOUT_MS);
      const fault = integrityFault(file, stored);
      if (fault) faults.set(index, { path: file.path, fault });
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(CONCURRENT_FILES, files.length) }, work));
  } catch (error) {
    throw storeFailure(error);
  }
  return [...faults].sort(([a], [b]) => a - b).map(([, fault]) => fault);
}

async function inspect(
  store: ObjectStore,
  { bucket, keyPrefix }: Location,
  { path, byteSize }: Pick<DataFile, "path" | "byteSize">,
): Promise<StoredFile | null> {
  const key = keyPrefix + path;
  const stat = await store.head(bucket, key);
  if (!stat) return null;
  const stored: StoredFile = { byteSize: BigInt(stat.size) };
  // Only a file of the right size is worth two more calls, and only a range inside it is allowed.
  if (stored.byteSize !== byteSize || !hasMagic(path) || stat.size < 2 * MAGIC_BYTES) return stored;
  const [head, tail] = await Promise.all([
    readBytes(store, bucket, key, 0),
    readBytes(store, bucket, key, stat.size - MAGIC_BYTES),
  ]);
  return { ...stored, head, tail };
}

async function readBytes(store: ObjectStore, bucket: string, key: string, offset: number) {
  const { body } = await store.get(bucket, key, { range: { offset, length: MAGIC_BYTES } });
  return buffer(body);
}
