const DAY_MS = 86_400_000;

/** How long the record of a sweep, or of a hold that is over, is kept, in days. */
const SWEEP_DAYS = 90;

/**
 * How long a purged table's row, and one the catalog never spoke of, waits for what may still arrive, in
 * days.
 */
const FORGET_DAYS = 7;

/** Reads of days before this one are deleted; `YYYY-MM-DD`, UTC. `keepDays` are retention days (T17). */
export function firstKeptReadDay(now: Date, keepDays: number, daySeconds: number): string {
  return new Date(now.getTime() - keepDays * daySeconds * 1000).toISOString().slice(0, 10);
}

/** Records of sweeps and holds that ended before it are deleted. */
export function firstKeptSweep(now: Date): Date {
  return new Date(now.getTime() - SWEEP_DAYS * DAY_MS);
}

/** Rows that nobody has spoken of since are forgotten. */
export function forgetBefore(now: Date): Date {
  return new Date(now.getTime() - FORGET_DAYS * DAY_MS);
}
