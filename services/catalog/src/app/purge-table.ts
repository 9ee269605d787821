import { appendEvent, newId, toLapseError, withTransaction } from "@lapse/kit";
import { finishPurge, purgeRetryMs } from "../domain/purge.ts";
import { tablePurged } from "../events/table-events.ts";
import { transactionTime } from "../store/now.ts";
import {
  claimPurge,
  endPurge,
  type PurgeClaim,
  postponePurge,
  releaseClaim,
} from "../store/purges.ts";
import { findTable, lockTable, saveTable } from "../store/tables.ts";
import { tableResource } from "./access.ts";
import { appendCatalogDecision } from "./decision.ts";
import { deleteTableFiles } from "./delete-table-files.ts";
import type { CatalogDeps } from "./deps.ts";
import { keepClaim } from "./purge-claim.ts";
import { heldTenants } from "./watch-clock.ts";

/** How long a claim lasts without a heartbeat: the purge of a worker that died is taken over after this. */
const CLAIM_MS = 60_000;

export interface PurgeOptions {
  /** Aborted when the worker is to stop: the claim is then given back. */
  readonly signal: AbortSignal;
  /** A minute unless given. */
  readonly claimMs?: number;
}

/**
 * Takes the purge that has waited longest, deletes the table's files and ends in `purged` (T30); false when none waits, but
 * for those that a clock to be confirmed holds.
 * No other worker does it at the same time; one that is killed is replaced, and its successor goes on where it was.
 * A failure is recorded once, counted, and tried again later and later; other purges go on meanwhile.
 */
export async function purgeNextTable(
  deps: CatalogDeps,
  { signal, claimMs = CLAIM_MS }: PurgeOptions,
): Promise<boolean> {
  const held = await heldTenants(deps);
  const claim = await claimPurge(deps.pool, { claim: newId(), leaseMs: claimMs, held });
  if (!claim) return false;
  const kept = keepClaim(deps, claim, claimMs);
  try {
    await purge(deps, claim, AbortSignal.any([signal, kept.signal]));
  } catch (error) {
    if (signal.aborted) await releaseClaim(deps.pool, claim);
    else await postpone(deps, claim, error);
  } finally {
    kept.stop();
  }
  return true;
}

async function purge(deps: CatalogDeps, claim: PurgeClaim, signal: AbortSignal): Promise<void> {
  const entry = await findTable(deps.pool, claim.tableId);
  if (!entry) throw new Error(`table ${claim.tableId} has a purge but no row`);
  // Past `purging` there is no way back, so what is read here stays true while the files go.
  if (entry.table.state === "purging") await deleteTableFiles(deps, entry.table, signal);
  if (await finish(deps, claim)) deps.metrics.purged();
}

const finish = (deps: CatalogDeps, claim: PurgeClaim): Promise<boolean> =>
  withTransaction(deps.pool, async (tx) => {
    const entry = await lockTable(tx, claim.tableId);
    if (!(await endPurge(tx, claim)) || !entry) return false;
    const now = await transactionTime(tx);
    const table = finishPurge(entry.table, now);
    if (!table) throw new Error(`table ${claim.tableId} is ${entry.table.state}, not purging`);
    const after = { ...entry, table };
    await saveTable(tx, table);
    await appendEvent(tx, tablePurged(after, now));
    await appendCatalogDecision(tx, now, {
      type: "TABLE_PURGED",
      tenant: table.tenant,
      resource: tableResource(after),
      outcome: "done",
      reason: table.drop ? "undo_period_over" : "never_committed",
      details: table.drop
        ? { dropped_at: table.drop.at.toISOString(), drop_reason: table.drop.reason }
        : {},
    });
    return true;
  });

async function postpone(deps: CatalogDeps, claim: PurgeClaim, error: unknown): Promise<void> {
  const failure = toLapseError(error);
  const { tableId, attempt } = claim;
  deps.metrics.purgeFailed();
  deps.log.warn({ err: error, table_id: tableId, attempt }, "a table's files could not be deleted");
  await withTransaction(deps.pool, async (tx) => {
    const now = await transactionTime(tx);
    const notBefore = new Date(now.getTime() + purgeRetryMs(attempt));
    const first = await postponePurge(tx, claim, { notBefore, error: failure.message });
    const entry = first && (await findTable(tx, tableId));
    if (!entry) return;
    await appendCatalogDecision(tx, now, {
      type: "TABLE_PURGE_FAILED",
      tenant: entry.table.tenant,
      resource: tableResource(entry),
      outcome: "failed",
      reason: failure.reason.toLowerCase(),
      details: { error: failure.message },
    });
  });
}
