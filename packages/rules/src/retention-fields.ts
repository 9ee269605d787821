import { calendarDay, hasDayForm, isCalendarDay, midnightUtc } from "./calendar-day.ts";
import { isDayCount, MAX_DAYS } from "./day.ts";
import { looksLikeDuration } from "./duration.ts";
import { type Checked, type Fault, shown } from "./fault.ts";
import { epochMs } from "./instant.ts";

/** A field of a retention as people and programs give it; exactly one is given. */
export type RetentionField = "days" | "on" | "never";

/** Why a retention was refused. */
export type RetentionReason =
  | "NOT_EXACTLY_ONE"
  | "DAYS_NOT_WHOLE"
  | "DAYS_OUT_OF_RANGE"
  | "DURATION_FOR_DAYS"
  | "DATE_FOR_DAYS"
  | "DURATION_FOR_DATE"
  | "NOT_A_DATE"
  | "NO_SUCH_DATE"
  | "NOT_AFTER_TODAY"
  | "NEVER_NOT_TRUE";

/** A refused retention; `field` is null where the fault lies in how many fields are given. */
export interface RetentionFault extends Fault<RetentionReason> {
  readonly field: RetentionField | null;
}

/** Checks a number of retention days: a whole number from 1 to {@link MAX_DAYS}; text is refused (T10). */
export function parseDays(value: unknown): Checked<number, RetentionFault> {
  if (typeof value === "number" && Number.isInteger(value)) {
    return isDayCount(value)
      ? { ok: true, value }
      : refuse("days", "DAYS_OUT_OF_RANGE", `days must be 1 to ${MAX_DAYS}, not ${value}`);
  }
  const wanted = "days takes a whole number, such as 30";
  if (typeof value === "string" && looksLikeDuration(value)) {
    return refuse("days", "DURATION_FOR_DAYS", `${shown(value)} is a duration; ${wanted}`);
  }
  if (typeof value === "string" && hasDayForm(value)) {
    return refuse(
      "days",
      "DATE_FOR_DAYS",
      `${shown(value)} is a date; ${wanted}; a date goes in on`,
    );
  }
  return refuse("days", "DAYS_NOT_WHOLE", `${wanted}, not ${shown(value)}`);
}

/**
 * The number that a command-line argument of digits stands for, to be checked by {@link parseDays}. Any other text
 * comes back as it is, so that the refusal can say what it looks like.
 */
export function numberOrText(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** Checks the day from whose midnight (UTC) a table expires: on the calendar, and after the day of `now` in UTC (T3, T10). */
export function parseOn(value: unknown, now: Date): Checked<string, RetentionFault> {
  const wanted = "on takes a date written YYYY-MM-DD";
  if (isLengthOfTime(value)) {
    const message = `${shown(value)} is a duration; ${wanted}; a number of days goes in days`;
    return refuse("on", "DURATION_FOR_DATE", message);
  }
  if (typeof value !== "string" || !hasDayForm(value)) {
    return refuse("on", "NOT_A_DATE", `${wanted}, not ${shown(value)}`);
  }
  if (!isCalendarDay(value)) {
    return refuse("on", "NO_SUCH_DATE", `${value} is not a day of the calendar`);
  }
  // A day is after today exactly while its midnight is still to come.
  if (epochMs(midnightUtc(value)) <= epochMs(now)) {
    const message = `${value} is not after today (${calendarDay(now)} in UTC); to expire the table now, drop it instead`;
    return refuse("on", "NOT_AFTER_TODAY", message);
  }
  return { ok: true, value };
}

/** Checks `never`: there is nothing to say but true. */
export function parseNever(value: unknown): Checked<true, RetentionFault> {
  return value === true
    ? { ok: true, value }
    : refuse("never", "NEVER_NOT_TRUE", `never takes only true, not ${shown(value)}`);
}

/** A refusal of a retention, of one field or (null) of the whole. */
export function refuse(
  field: RetentionField | null,
  reason: RetentionReason,
  message: string,
): Checked<never, RetentionFault> {
  return { ok: false, fault: { field, reason, message } };
}

function isLengthOfTime(value: unknown): boolean {
  return (
    typeof value === "number" ||
    (typeof value === "string" && (looksLikeDuration(value) || /^\d{1,4}$/.test(value)))
  );
}
