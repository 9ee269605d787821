/** How far ahead of the database clock an event's time may be (T14). */
export const MAX_AHEAD_MS = 5 * 60_000;

/** An event's time as it counts, in ms since the epoch. */
export interface EventTime {
  readonly at: number;
  /** Whether it was for the future, and counts as now instead. */
  readonly clamped: boolean;
}

/** More than five minutes ahead of `now` counts as `now`: one wrong clock must not keep a table for ever (T14). */
export function clampToNow(at: number, now: number): EventTime {
  return at - now > MAX_AHEAD_MS ? { at: now, clamped: true } : { at, clamped: false };
}
