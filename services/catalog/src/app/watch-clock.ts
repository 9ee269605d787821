import {
  type ClockHold,
  type ClockUse,
  clockFault,
  describeClockFault,
  heldByClock,
  lookAtClock,
  type Queryable,
  withTransaction,
} from "@lapse/kit";
import { tenantsWithEnvironments } from "../store/environments.ts";
import { tenantResource } from "./access.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";

/** What the catalog deletes by the database's clock; the slowest of its jobs looks this often. */
export const PURGE_CLOCK: ClockUse = { use: "purge", intervalMs: 60_000 };

/** What may be deleted now. */
export interface PurgeLook {
  /** Tenants for which nothing is, until somebody of theirs confirms the clock. */
  readonly held: readonly string[];
  /** Whether a time read later still goes with the look; if not, the next look says what to do. */
  agrees(now: Date): boolean;
}

/**
 * Looks at the clock before anything is deleted by it (rule 6 of the architecture). Where it jumped, every tenant is
 * held, each with a decision in its log.
 */
export async function lookBeforePurging(deps: CatalogDeps): Promise<PurgeLook> {
  const { look, held } = await withTransaction(deps.pool, async (tx) => {
    const look = await lookAtClock(tx, {
      ...PURGE_CLOCK,
      tenants: () => tenantsWithEnvironments(tx),
    });
    for (const hold of look.raised) await recordHeld(tx, hold);
    return { look, held: [...(await heldByClock(tx, PURGE_CLOCK.use))] };
  });
  if (look.fault) deps.log.error(describeClockFault(look.fault));
  deps.metrics.setPurgeHolds(held.length);
  return {
    held,
    agrees: (now) =>
      clockFault({ last: look.now, now, intervalMs: PURGE_CLOCK.intervalMs }) === null,
  };
}

/** Tenants for which nothing is deleted now, for what is not decided by the clock again. */
export async function heldTenants({ pool }: CatalogDeps): Promise<readonly string[]> {
  return [...(await heldByClock(pool, PURGE_CLOCK.use))];
}

const recordHeld = (tx: Queryable, { holdId, tenant, lastSeenAt, raisedAt }: ClockHold) =>
  appendCatalogDecision(tx, raisedAt, {
    type: "PURGE_HELD",
    tenant,
    resource: tenantResource(tenant),
    outcome: "kept",
    reason: "clock",
    details: {
      hold_id: holdId,
      last_seen_at: lastSeenAt.toISOString(),
      now: raisedAt.toISOString(),
    },
  });
