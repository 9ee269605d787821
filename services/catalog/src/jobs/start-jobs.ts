import { type Stoppable, startPeriodic, stoppable } from "@lapse/kit";
import { beginDuePurges, giveUpStagedTables } from "../app/begin-purges.ts";
import type { CatalogDeps } from "../app/deps.ts";
import { purgeNextTable } from "../app/purge-table.ts";
import { reclaimFiles } from "../app/reclaim-files.ts";
import { forgetOldAnswers, measureBacklog, removeEndedHolds } from "../app/remove-ended.ts";

/** How often each job looks for work, in ms; it also goes on at once while there is more. */
export interface JobIntervals {
  readonly purge: number;
  readonly removal: number;
}

const INTERVALS: JobIntervals = { purge: 2_000, removal: 60_000 };
/** Purges that this replica does side by side, so that a few large tables do not hold up the rest. */
const PURGE_WORKERS = 3;

/** Everything the catalog does by the clock. Each job is safe to run in every replica at the same time. */
export function startJobs(deps: CatalogDeps, intervals: Partial<JobIntervals> = {}): Stoppable {
  const { purge, removal } = { ...INTERVALS, ...intervals };
  const job = (name: string, everyMs: number, work: (signal: AbortSignal) => Promise<void>) =>
    startPeriodic({
      name,
      everyMs,
      log: deps.log,
      work: (signal) =>
        work(signal).catch((error: unknown) => {
          if (!signal.aborted) deps.metrics.jobFailed(name);
          throw error;
        }),
    });
  const jobs = [
    job("begin_purges", purge, (signal) => beginDuePurges(deps, signal)),
    ...Array.from({ length: PURGE_WORKERS }, () =>
      job("purge", purge, async (signal) => {
        while (!signal.aborted && (await purgeNextTable(deps, { signal })));
      }),
    ),
    job("staged", removal, (signal) => giveUpStagedTables(deps, signal)),
    job("reclaim_files", removal, (signal) => reclaimFiles(deps, signal)),
    job("holds", removal, (signal) => removeEndedHolds(deps, signal)),
    job("due_answers", removal, (signal) => forgetOldAnswers(deps, signal)),
    job("backlog", 10 * purge, () => measureBacklog(deps)),
  ];
  return stoppable(async () => {
    await Promise.all(jobs.map((each) => each.stop()));
  });
}
