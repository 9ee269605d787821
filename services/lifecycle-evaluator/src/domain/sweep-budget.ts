/** What a sweep has done so far, in tables. */
export interface SweepProgress {
  readonly dropped: number;
  /** Issued, neither answered nor given up. */
  readonly outstanding: number;
  /** Issued and given up: the catalog may still drop them. */
  readonly unanswered: number;
}

/** Due events in flight at once: the catalog calls those stale that it reaches only after a minute. */
export const MAX_OUTSTANDING = 1_000;

/** Due events written in one transaction. */
const MAX_CHUNK = 500;

/**
 * What of the cap is used up: only what was or may yet be dropped, so tables that are kept or fail leave it to
 * the others (T24).
 */
const usedUp = ({ dropped, outstanding, unanswered }: SweepProgress): number =>
  dropped + outstanding + unanswered;

/** How many more tables a sweep may issue now. */
export function nextChunk(cap: number, progress: SweepProgress): number {
  const left = cap - usedUp(progress);
  return Math.max(0, Math.min(left, MAX_CHUNK, MAX_OUTSTANDING - progress.outstanding));
}

const NOTHING: SweepProgress = { dropped: 0, outstanding: 0, unanswered: 0 };

/** The progress of all tenants together. */
export function totalProgress(byTenant: ReadonlyMap<string, SweepProgress>): SweepProgress {
  return [...byTenant.values()].reduce(
    (sum, each) => ({
      dropped: sum.dropped + each.dropped,
      outstanding: sum.outstanding + each.outstanding,
      unanswered: sum.unanswered + each.unanswered,
    }),
    NOTHING,
  );
}

/**
 * The part of the cap that each of so many tenants has for certain: one with a mass of overdue tables keeps no other
 * from being served.
 */
export const fairShare = (cap: number, tenants: number): number =>
  Math.max(1, Math.floor(cap / Math.max(1, tenants)));

/** The tenants that have used up their share. */
export function spentTenants(
  byTenant: ReadonlyMap<string, SweepProgress>,
  share: number,
): readonly string[] {
  return [...byTenant].filter(([, each]) => usedUp(each) >= share).map(([tenant]) => tenant);
}

/**
 * Of some tables, in their order, those within each tenant's share. What comes after the first that is not, of the same
 * tenant, is not either, so that every source is taken from its head.
 */
export function withinShare<T>(
  tables: readonly T[],
  tenantOf: (table: T) => string,
  {
    progress,
    share,
  }: { readonly progress: ReadonlyMap<string, SweepProgress>; readonly share: number },
): readonly T[] {
  const taken = new Map<string, number>();
  return tables.filter((table) => {
    const tenant = tenantOf(table);
    const used = taken.get(tenant) ?? usedUp(progress.get(tenant) ?? NOTHING);
    taken.set(tenant, used + 1);
    return used < share;
  });
}
