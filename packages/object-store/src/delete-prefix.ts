import { ObjectStoreError, quoted } from "./errors.ts";
import type { KeyRange, ObjectStat, ObjectStore } from "./object-store.ts";

const CONCURRENT_DELETES = 16;
const KEPT_FAILURES = 20;

export interface DeletePrefixOptions {
  /** Go on after this key: `next` of the call before. */
  readonly startAfter?: string;
  /** At most so many objects in this call, 1 or more, default 1000. */
  readonly limit?: number;
}

export interface DeletePrefixResult {
  readonly deleted: number;
  /** Bytes that the deleted objects had. */
  readonly bytes: number;
  /** Objects that could not be deleted; they did not stop the others (architecture rule 10). */
  readonly failed: number;
  /** The first 20 failures. */
  readonly failures: readonly { readonly key: string; readonly error: unknown }[];
  /** `startAfter` of the next call; null when the prefix has been gone through. */
  readonly next: string | null;
}

/**
 * Deletes what lies under `prefix`, at most `limit` objects a call, so that a long deletion can
 * renew its lease and be stopped between calls. Resumable: what is gone is gone, so after a crash a
 * fresh run without `startAfter` goes on where it stopped; done when a run from the start ends with
 * `next: null` and nothing failed.
 *
 * The prefix must end in a slash: `dev/1` would also take `dev/12/…` (T30).
 *
 * @throws ObjectStoreError `invalid` for another prefix or limit, and what `walk` throws.
 */
export async function deletePrefix(
  store: ObjectStore,
  bucket: string,
  prefix: string,
  options: DeletePrefixOptions = {},
): Promise<DeletePrefixResult> {
  if (!prefix.endsWith("/")) {
    throw new ObjectStoreError(
      "invalid",
      `Prefix ${quoted(prefix)} cannot be deleted: it must end in a slash.`,
    );
  }
  const { limit = 1000, startAfter } = options;
  if (!Number.isInteger(limit) || limit < 1) {
    throw new ObjectStoreError("invalid", `Limit ${limit} is refused: it takes 1 or more.`);
  }
  const range = startAfter === undefined ? { prefix } : { prefix, startAfter };
  const page = await takeFirst(store, bucket, range, limit);

  let deleted = 0;
  let bytes = 0;
  const failures: { key: string; error: unknown }[] = [];
  let failed = 0;
  const waiting = page.objects.values();
  const work = async () => {
    for (const object of waiting) {
      try {
        await store.delete(bucket, object.key);
        deleted += 1;
        bytes += object.size;
      } catch (error) {
        failed += 1;
        if (failures.length < KEPT_FAILURES) failures.push({ key: object.key, error });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_DELETES }, work));
  return { deleted, bytes, failed, failures, next: page.next };
}

async function takeFirst(
  store: ObjectStore,
  bucket: string,
  range: KeyRange,
  limit: number,
): Promise<{ objects: ObjectStat[]; next: string | null }> {
  const objects: ObjectStat[] = [];
  for await (const object of store.walk(bucket, range)) {
    if (objects.length === limit) return { objects, next: objects.at(-1)?.key ?? null };
    objects.push(object);
  }
  return { objects, next: null };
}
