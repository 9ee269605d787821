export { calendarDay, isCalendarDay, midnightUtc } from "./calendar-day.ts";
export { type DayLength, dayLength, daysAfter, isDayCount, MAX_DAYS, REAL_DAY } from "./day.ts";
export {
  type Duration,
  type DurationFault,
  type DurationReason,
  type DurationUnit,
  durationMs,
  MAX_DURATION_DAYS,
  parseDuration,
} from "./duration.ts";
export {
  type EffectiveRule,
  effectiveRule,
  type RuleFacts,
  type TableKind,
} from "./effective-rule.ts";
export {
  type Expiry,
  type ExpiryFacts,
  expiresSoon,
  expiryOf,
  isDue,
  type Kept,
} from "./expiry.ts";
export type { Checked, Fault } from "./fault.ts";
export { later } from "./instant.ts";
export {
  type EnvironmentRetention,
  parseEnvironmentDays,
  parseTableRule,
  type RetentionFields,
  type Setting,
  type TableRetention,
  type TableRule,
} from "./retention.ts";
export {
  numberOrText,
  parseDays,
  parseOn,
  type RetentionFault,
  type RetentionField,
  type RetentionReason,
} from "./retention-fields.ts";
export { compareExpiry, isShortened } from "./shortened.ts";
