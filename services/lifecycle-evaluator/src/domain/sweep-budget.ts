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
 * How many more tables a sweep may issue now. Only what was or may yet be dropped uses up the cap, so
 * tables that are kept or fail leave it to the others (T24).
 */
export function nextChunk(
  cap: number,
  { dropped, outstanding, unanswered }: SweepProgress,
): number {
  const left = cap - dropped - outstanding - unanswered;
  return Math.max(0, Math.min(left, MAX_CHUNK, MAX_OUTSTANDING - outstanding));
}
