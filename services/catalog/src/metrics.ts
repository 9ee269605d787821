import type { Metrics } from "@lapse/kit";
import type { KeptReason } from "./domain/due.ts";
import type { DropReason } from "./domain/table.ts";

/** What the catalog counts; each is counted once its transaction has committed. */
export interface CatalogMetrics {
  dropped(reason: DropReason): void;
  kept(reason: KeptReason): void;
  restored(): void;
  purged(): void;
  purgeFailed(): void;
  settleFailed(): void;
  filesReclaimed(count: number): void;
  jobFailed(job: string): void;
  setActiveHolds(count: number): void;
  setPurgeHolds(tenants: number): void;
  setPurges(state: "waiting" | "failing", count: number): void;
}

export function createCatalogMetrics(metrics: Metrics): CatalogMetrics {
  const dropped = metrics.counter("lapse_tables_dropped_total", "Tables dropped, by reason", [
    "reason",
  ]);
  const kept = metrics.counter("lapse_tables_kept_total", "Due tables that were kept, by reason", [
    "reason",
  ]);
  const restored = metrics.counter(
    "lapse_tables_restored_total",
    "Tables brought back by an undrop",
  );
  const purged = metrics.counter(
    "lapse_tables_purged_total",
    "Tables whose files were deleted for good",
  );
  const purgeFailures = metrics.counter(
    "lapse_purge_failures_total",
    "Attempts to delete a table's files that failed",
  );
  const settleFailures = metrics.counter(
    "lapse_settle_failures_total",
    "Retentions that could not be settled; the next sweep tries again",
  );
  const reclaimed = metrics.counter(
    "lapse_files_reclaimed_total",
    "Files deleted some time after a commit took them out of their table",
  );
  const jobFailures = metrics.counter(
    "lapse_job_failures_total",
    "Rounds of a background job, or items in them, that failed",
    ["job"],
  );
  const holds = metrics.gauge("lapse_holds_active", "Holds that keep a table from being dropped");
  const purgeHolds = metrics.gauge(
    "lapse_purge_holds",
    "Tenants whose purges wait for somebody to confirm the database's clock",
  );
  const purges = metrics.gauge(
    "lapse_purges",
    "Tables being purged: waiting in all, and failing of these",
    ["state"],
  );
  return {
    dropped: (reason) => dropped.inc({ reason }),
    kept: (reason) => kept.inc({ reason }),
    restored: () => restored.inc(),
    purged: () => purged.inc(),
    purgeFailed: () => purgeFailures.inc(),
    settleFailed: () => settleFailures.inc(),
    filesReclaimed: (count) => reclaimed.inc(count),
    jobFailed: (job) => jobFailures.inc({ job }),
    setActiveHolds: (count) => holds.set(count),
    setPurgeHolds: (tenants) => purgeHolds.set(tenants),
    setPurges: (state, count) => purges.set({ state }, count),
  };
}
