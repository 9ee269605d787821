import type { DayLength } from "./day.ts";
import { type Checked, type Fault, shown } from "./fault.ts";

/**
 * A length of time. Retention days are kept apart from the rest, because how long one lasts is a setting
 * ({@link DayLength}); both parts are whole and not negative.
 */
export interface Duration {
  readonly days: number;
  readonly ms: number;
}

/** The units of a duration; `d` is a retention day. */
export type DurationUnit = "d" | "h" | "m" | "s" | "ms";

/** Why a text is not a duration. */
export type DurationReason =
  | "EMPTY"
  | "NEGATIVE"
  | "NO_UNIT"
  | "NOT_A_DURATION"
  | "UNKNOWN_UNIT"
  | "UNIT_OUT_OF_ORDER"
  | "TOO_LONG";

/** A refusal of {@link parseDuration}. */
export type DurationFault = Fault<DurationReason>;

/** The longest duration, in days: an instant moved by one stays far inside what a `Date` can hold. */
export const MAX_DURATION_DAYS = 36_500;

/** Each unit in ms, `d` as a real day: what the order and the bound are judged by. */
const UNIT_MS: Readonly<Record<DurationUnit, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};

const BARE_NUMBER = /^\d+$/;
const NEGATIVE = /^-\d/;
const NUMBERS_WITH_UNITS = /^(?:\d+\p{L}+)+$/u;
const BETWEEN_PARTS = /(?<=\p{L})(?=\d)/u;
const LEADING_NUMBER = /^\d+/;
const ANY_DURATION =
  /^[-+]?P?T?\d+(?:[.,]\d+)?\s*(?:y|years?|mo|months?|w|weeks?|d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?|ms)(?![a-z])/i;

const ADVICE =
  "write whole numbers with d, h, m, s or ms, the largest unit first, such as 7d or 1h30m";

/**
 * Reads `7d`, `36h`, `15m`, `30s`, `500ms` and compounds such as `1h30m`: whole numbers, each unit at most once, the
 * largest first. A number without a unit is taken in `defaultUnit` where the caller allows one. Zero is a duration.
 */
export function parseDuration(
  text: string,
  defaultUnit?: DurationUnit,
): Checked<Duration, DurationFault> {
  if (text.trim() === "") {
    return refuse("EMPTY", `${shown(text)} is empty: ${ADVICE}`);
  }
  if (BARE_NUMBER.test(text)) {
    return defaultUnit === undefined
      ? refuse("NO_UNIT", `${shown(text)} has no unit: ${ADVICE}`)
      : sum(text, [`${text}${defaultUnit}`]);
  }
  if (NEGATIVE.test(text)) {
    return refuse("NEGATIVE", `${shown(text)} is negative: ${ADVICE}`);
  }
  return NUMBERS_WITH_UNITS.test(text)
    ? sum(text, text.split(BETWEEN_PARTS))
    : refuse("NOT_A_DURATION", `${shown(text)} is not a duration: ${ADVICE}`);
}

/** How many ms a duration lasts when a retention day is `day` long. */
export function durationMs(duration: Duration, day: DayLength): number {
  return duration.days * day + duration.ms;
}

/** Whether `text` is a length of time (`30d`, `7 days`, `P30D`), be it written in this grammar or not. */
export function looksLikeDuration(text: string): boolean {
  return ANY_DURATION.test(text);
}

/** Adds up the parts of `text`, each a number and its unit. */
function sum(text: string, parts: readonly string[]): Checked<Duration, DurationFault> {
  let days = 0;
  let ms = 0;
  let smallestUnitMs = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    const amount = Number.parseInt(part, 10);
    const unit = part.replace(LEADING_NUMBER, "");
    if (!isUnit(unit)) {
      return refuse(
        "UNKNOWN_UNIT",
        `${shown(text)} has the unknown unit ${shown(unit)}: ${ADVICE}`,
      );
    }
    if (UNIT_MS[unit] >= smallestUnitMs) {
      return refuse("UNIT_OUT_OF_ORDER", `${shown(text)} has ${unit} too late or twice: ${ADVICE}`);
    }
    smallestUnitMs = UNIT_MS[unit];
    if (unit === "d") {
      days = amount;
    } else {
      ms += amount * UNIT_MS[unit];
    }
  }
  return days * UNIT_MS.d + ms > MAX_DURATION_DAYS * UNIT_MS.d
    ? refuse("TOO_LONG", `${shown(text)} is longer than ${MAX_DURATION_DAYS} days`)
    : { ok: true, value: { days, ms } };
}

function isUnit(text: string): text is DurationUnit {
  return Object.hasOwn(UNIT_MS, text);
}

function refuse(reason: DurationReason, message: string): Checked<never, DurationFault> {
  return { ok: false, fault: { reason, message } };
}
