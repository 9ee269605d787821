const FORM = /^\d{4}-\d{2}-\d{2}$/;

/** Whether `text` is written `YYYY-MM-DD`, be there such a day or not. */
export function hasDayForm(text: string): boolean {
  return FORM.test(text);
}

/** Whether `text` is a day of the calendar written `YYYY-MM-DD`; 2026-02-30 is not. */
export function isCalendarDay(text: string): boolean {
  if (!hasDayForm(text)) {
    return false;
  }
  const midnight = new Date(`${text}T00:00:00.000Z`);
  // The engine rolls 30 February over into March, so only a day that comes back as written exists.
  return !Number.isNaN(midnight.getTime()) && calendarDay(midnight) === text;
}

/** The first instant of a calendar day in UTC. Throws a `RangeError` where {@link isCalendarDay} says no. */
export function midnightUtc(day: string): Date {
  if (!isCalendarDay(day)) {
    throw new RangeError(`${JSON.stringify(day)} is not a calendar day`);
  }
  return new Date(`${day}T00:00:00.000Z`);
}

/** The UTC day that `instant` falls on, as `YYYY-MM-DD`. Throws a `RangeError` for an invalid `Date`. */
export function calendarDay(instant: Date): string {
  const iso = instant.toISOString();
  return iso.slice(0, iso.indexOf("T"));
}
