/** How far ahead of the database clock an event's time may be (T14). */
export const MAX_AHEAD_MS = 5 * 60_000;

/** The years 1 to 9999, in ms since the epoch: what a database holds, and what an event may give. */
export const EARLIEST_MS = -62_135_596_800_000;
export const LATEST_MS = 253_402_300_799_999;

/** An event's time as it counts, in ms since the epoch. */
export interface EventTime {
  readonly at: number;
  /** Whether it was for the future, and counts as now instead. */
  readonly clamped: boolean;
}

/**
 * More than five minutes ahead of `now` counts as `now`: one wrong clock must not keep a table for ever
 * (T14).
 */
export function clampToNow(at: number, now: number): EventTime {
  return at - now > MAX_AHEAD_MS ? { at: now, clamped: true } : { at, clamped: false };
}
