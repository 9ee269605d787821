import type { Checked } from "./fault.ts";
import {
  parseDays,
  parseNever,
  parseOn,
  type RetentionFault,
  type RetentionField,
  refuse,
} from "./retention-fields.ts";

/** When a table expires by its own rule: days after its last activity, from a calendar day (UTC) on, or never (T4). */
export type TableRule =
  | { readonly kind: "days"; readonly days: number }
  | { readonly kind: "on"; readonly on: string }
  | { readonly kind: "never" };

/** Who set a rule (the principal's subject), and when. */
export interface Setting {
  readonly setBy: string;
  readonly setAt: Date;
}

/** A table's own rule, as set. */
export type TableRetention = TableRule & Setting;

/** The rule of an environment, for every managed table there without a rule of its own (T7). */
export interface EnvironmentRetention extends Setting {
  readonly days: number;
}

/** A retention as it arrives at an edge, unchecked. A field that is null or undefined is not given. */
export type RetentionFields = { readonly [field in RetentionField]?: unknown };

const FIELDS: readonly RetentionField[] = ["days", "on", "never"];

/** Checks a table's retention: exactly one field, of the right type and within its bounds on the day of `now` (T3, T10). */
export function parseTableRule(
  fields: RetentionFields,
  now: Date,
): Checked<TableRule, RetentionFault> {
  const given = FIELDS.filter((field) => fields[field] !== undefined && fields[field] !== null);
  const [field, ...others] = given;
  if (field === undefined || others.length > 0) {
    const got = given.length === 0 ? "none" : given.join(" and ");
    return refuse(null, "NOT_EXACTLY_ONE", `give exactly one of days, on and never, not ${got}`);
  }
  switch (field) {
    case "days": {
      const days = parseDays(fields.days);
      return days.ok ? { ok: true, value: { kind: "days", days: days.value } } : days;
    }
    case "on": {
      const on = parseOn(fields.on, now);
      return on.ok ? { ok: true, value: { kind: "on", on: on.value } } : on;
    }
    case "never": {
      const never = parseNever(fields.never);
      return never.ok ? { ok: true, value: { kind: "never" } } : never;
    }
  }
}

/** Checks an environment's retention: a number of days as for a table, or null to turn it off (T7, T10). */
export function parseEnvironmentDays(value: unknown): Checked<number | null, RetentionFault> {
  return value === null ? { ok: true, value } : parseDays(value);
}
