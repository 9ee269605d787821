import { withTransaction } from "@lapse/kit";
import { reclaimableBefore } from "../domain/undo-period.ts";
import { markReclaimed, type RemovedFile, reclaimableFiles } from "../store/files.ts";
import { inTime } from "../store/in-time.ts";
import { transactionTime } from "../store/now.ts";
import { storeFailure } from "../store/store-failure.ts";
import { forEachConcurrently } from "./concurrently.ts";
import type { CatalogDeps } from "./deps.ts";
import { lookBeforePurging } from "./watch-clock.ts";

const PAGE = 500;
const CONCURRENT_DELETES = 16;
const DELETE_TIMEOUT_MS = 30_000;

/**
 * Deletes files that a replace or a maintenance took out of their table longer ago than the undo period. Safe to run
 * anywhere, twice or late: a path never comes back into its table, so only that very file can be hit. One that cannot be
 * deleted is left for the next round.
 */
export async function reclaimFiles(deps: CatalogDeps, signal: AbortSignal): Promise<void> {
  let after: RemovedFile | undefined;
  do {
    const { held, agrees } = await lookBeforePurging(deps);
    const now = await transactionTime(deps.pool);
    if (!agrees(now)) return;
    const removedBefore = reclaimableBefore(now, deps.undo);
    const page = await reclaimableFiles(deps.pool, { removedBefore, after, limit: PAGE, held });
    const deleted: RemovedFile[] = [];
    await forEachConcurrently(page, CONCURRENT_DELETES, async (file) => {
      if (!signal.aborted && (await deleteFile(deps, file))) deleted.push(file);
    });
    await withTransaction(deps.pool, async (tx) =>
      markReclaimed(tx, deleted, await transactionTime(tx)),
    );
    deps.metrics.filesReclaimed(deleted.length);
    after = page.at(-1);
  } while (after && !signal.aborted);
}

async function deleteFile(deps: CatalogDeps, file: RemovedFile): Promise<boolean> {
  try {
    const key = file.keyPrefix + file.path;
    await inTime(deps.objectStore.delete(file.bucket, key), DELETE_TIMEOUT_MS);
    return true;
  } catch (error) {
    deps.metrics.jobFailed("reclaim_files");
    deps.log.warn(
      { err: storeFailure(error), table_id: file.tableId },
      "a replaced file could not be deleted",
    );
    return false;
  }
}
