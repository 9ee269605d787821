/** The last instant a `Date` can hold, in ms since the epoch (in the year 275760). */
const LAST_INSTANT_MS = 8.64e15;

/**
 * An instant as ms since the epoch.
 * Throws a `RangeError` for an invalid `Date`: every comparison with one is false, so a rule would be decided by accident.
 */
export function epochMs(instant: Date): number {
  const ms = instant.getTime();
  if (Number.isNaN(ms)) {
    throw new RangeError("an invalid Date is not an instant");
  }
  return ms;
}

/** `instant` moved by `ms`. A sum past the last instant a `Date` can hold is that last instant: late, never unreadable. */
export function plusMs(instant: Date, ms: number): Date {
  return new Date(Math.min(epochMs(instant) + ms, LAST_INSTANT_MS));
}

/** The later of two instants. Folding with it is free of order and of duplicates (T13, T14). */
export function later(a: Date, b: Date): Date {
  return epochMs(a) >= epochMs(b) ? a : b;
}
