import { midnightUtc } from "./calendar-day.ts";
import { type DayLength, daysAfter } from "./day.ts";
import { type EffectiveRule, effectiveRule, type RuleFacts } from "./effective-rule.ts";
import { epochMs, later } from "./instant.ts";

/**
 * Everything that decides when a table expires. `lastActivityAt` is the latest change or read (T13), so it is not
 * before the table's restore, nor before its own rule was set (T5).
 */
export interface ExpiryFacts extends RuleFacts {
  readonly lastActivityAt: Date;
  readonly environmentProtected: boolean;
  /** Whether the table is an asset of the project version that is current in its environment (T20). */
  readonly projectAsset: boolean;
  readonly dayLength: DayLength;
}

/** Why a table with a rule that would expire it never expires (T19, T20). */
export type Kept = "protected" | "project_asset";

/** The rule a table follows, and when it expires (T2). Without a rule everything is null, and `never` false. */
export interface Expiry {
  readonly source: "table" | "environment" | null;
  readonly days: number | null;
  readonly on: string | null;
  /** Whether the table's own rule says never. */
  readonly never: boolean;
  readonly setBy: string | null;
  readonly setAt: Date | null;
  /** From this instant on the table is due; null: it does not expire. */
  readonly expiresAt: Date | null;
  readonly kept: Kept | null;
}

const NO_RULE: Expiry = {
  source: null,
  days: null,
  on: null,
  never: false,
  setBy: null,
  setAt: null,
  expiresAt: null,
  kept: null,
};

/**
 * When a table expires, by which rule, and what keeps it (T2, T4, T8, T9, T19, T20, T22, T28). Nothing expires without a
 * rule. Throws a `RangeError` for facts that no check let in (an invalid `Date`, days out of bounds, no such day).
 */
export function expiryOf(facts: ExpiryFacts): Expiry {
  const effective = effectiveRule(facts);
  if (effective === null) {
    return NO_RULE;
  }
  const { source, rule } = effective;
  const dueAt = dueInstant(effective, facts);
  const kept = dueAt === null ? null : keptBy(facts);
  return {
    source,
    days: rule.kind === "days" ? rule.days : null,
    on: rule.kind === "on" ? rule.on : null,
    never: rule.kind === "never",
    setBy: rule.setBy,
    setAt: rule.setAt,
    expiresAt: kept === null ? dueAt : null,
    kept,
  };
}

/** Whether a table is due at `now`: from its expiry on. */
export function isDue(expiry: Pick<Expiry, "expiresAt">, now: Date): boolean {
  return expiresSoon(expiry, now, 0);
}

/** Whether a table is due at `now` or within the `windowMs` ms after it, both ends included (T11, T12). */
export function expiresSoon(
  expiry: Pick<Expiry, "expiresAt">,
  now: Date,
  windowMs: number,
): boolean {
  return expiry.expiresAt !== null && epochMs(expiry.expiresAt) - epochMs(now) <= windowMs;
}

/** The instant the rule names; null for `never`. */
function dueInstant({ source, rule }: EffectiveRule, facts: ExpiryFacts): Date | null {
  switch (rule.kind) {
    case "days": {
      const { lastActivityAt, dayLength } = facts;
      // A new or shortened rule of the environment gives every table its full period (T8).
      const from = source === "environment" ? later(lastActivityAt, rule.setAt) : lastActivityAt;
      return daysAfter(from, rule.days, dayLength);
    }
    case "on":
      return midnightUtc(rule.on);
    case "never":
      return null;
  }
}

function keptBy(facts: ExpiryFacts): Kept | null {
  if (facts.environmentProtected) {
    return "protected";
  }
  return facts.projectAsset ? "project_asset" : null;
}
