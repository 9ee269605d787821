import { plusMs } from "./instant.ts";

declare const dayLengthBrand: unique symbol;

/** The length in ms of one *retention* day, the unit of `days`. Calendar days (`on`) are real UTC days whatever its value. */
export type DayLength = number & { readonly [dayLengthBrand]: true };

/** The most days a retention may have (T10); the least is 1. */
export const MAX_DAYS = 3650;

const REAL_DAY_SECONDS = 86_400;

/** A retention day as long as a real one. */
export const REAL_DAY = dayLength(REAL_DAY_SECONDS);

/**
 * The retention day of `daySeconds` seconds: `LAPSE_TIME__DAY_SECONDS`, which may only shorten it.
 * Throws a `RangeError` unless it is a whole number from 1 to 86400.
 */
export function dayLength(daySeconds: number): DayLength {
  if (!Number.isInteger(daySeconds) || daySeconds < 1 || daySeconds > REAL_DAY_SECONDS) {
    throw new RangeError(
      `a retention day is a whole number of seconds from 1 to ${REAL_DAY_SECONDS}, not ${daySeconds}`,
    );
  }
  return (daySeconds * 1000) as DayLength;
}

/** Whether a retention may have this many days: a whole number from 1 to {@link MAX_DAYS} (T10). */
export function isDayCount(days: number): boolean {
  return Number.isInteger(days) && days >= 1 && days <= MAX_DAYS;
}

/**
 * The instant `days` retention days after `instant`.
 * Throws a `RangeError` where {@link isDayCount} refuses `days`: a damaged rule must not become an early expiry.
 */
export function daysAfter(instant: Date, days: number, day: DayLength): Date {
  if (!isDayCount(days)) {
    throw new RangeError(`a retention is 1 to ${MAX_DAYS} whole days, not ${days}`);
  }
  return plusMs(instant, days * day);
}
