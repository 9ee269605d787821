import { conflict, type LapseError, type Pool } from "@lapse/kit";
import { deletePrefix, type ObjectStore } from "@lapse/object-store";
import type { Table } from "../domain/table.ts";
import { inTime } from "../store/in-time.ts";
import { findOverlap } from "../store/purges.ts";
import { storeFailure } from "../store/store-failure.ts";

const PAGE = 500;
const PAGE_TIMEOUT_MS = 120_000;

/**
 * Deletes everything under a table's own key prefix, and nothing else; done when a walk from the start found nothing it
 * could not delete. Resumable: whoever starts again goes on with what is left.
 *
 * @throws conflict `LOCATION_SHARED` where another table's location is this one, above it or below it (looked at
 *   before every page); unavailable when the store fails; whatever `signal` was aborted with.
 */
export async function deleteTableFiles(
  { pool, objectStore }: { pool: Pool; objectStore: ObjectStore },
  { tableId, location }: Table,
  signal: AbortSignal,
): Promise<void> {
  if (!location) return;
  const { bucket, keyPrefix } = location;
  let failure: LapseError | undefined;
  let startAfter: string | undefined;
  do {
    signal.throwIfAborted();
    const other = await findOverlap(pool, tableId, location);
    if (other) throw shared(tableId, other);
    const deleting = deletePrefix(objectStore, bucket, keyPrefix, {
      limit: PAGE,
      ...(startAfter !== undefined && { startAfter }),
    });
    const page = await inTime(deleting, PAGE_TIMEOUT_MS).catch((error: unknown) => {
      throw storeFailure(error);
    });
    const [first] = page.failures;
    if (first) failure ??= storeFailure(first.error);
    startAfter = page.next ?? undefined;
  } while (startAfter !== undefined);
  if (failure) throw failure;
}

const shared = (tableId: string, other: string): LapseError =>
  conflict(
    "LOCATION_SHARED",
    `the files of table ${tableId} are not deleted: its location overlaps that of table ${other}; move one of them`,
    { details: { table_id: other } },
  );
