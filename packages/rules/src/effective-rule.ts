import { midnightUtc } from "./calendar-day.ts";
import { epochMs } from "./instant.ts";
import type { EnvironmentRetention, TableRetention } from "./retention.ts";

/** What a table is. Only managed tables have a retention (T22). */
export type TableKind = "managed" | "view" | "external" | "artifact";

/** What decides which rule a table follows. `restoredAt` is its last restore by undrop, null when there was none. */
export interface RuleFacts {
  readonly kind: TableKind;
  readonly tableRule: TableRetention | null;
  readonly environmentRule: EnvironmentRetention | null;
  readonly restoredAt: Date | null;
}

/** The rule a table follows, and whether the table or its environment sets it. */
export interface EffectiveRule {
  readonly source: "table" | "environment";
  readonly rule: TableRetention;
}

/** The rule a managed table follows: its own, `never` included, else its environment's, else none (T7, T9, T22). */
export function effectiveRule(facts: RuleFacts): EffectiveRule | null {
  const { kind, tableRule, environmentRule, restoredAt } = facts;
  if (kind !== "managed") {
    return null;
  }
  if (tableRule !== null && !isSpent(tableRule, restoredAt)) {
    return { source: "table", rule: tableRule };
  }
  return environmentRule === null
    ? null
    : { source: "environment", rule: { ...environmentRule, kind: "days" } };
}

/** A day that had come when the table was restored no longer counts, or the table would go again at once (T28). */
function isSpent(rule: TableRetention, restoredAt: Date | null): boolean {
  return (
    rule.kind === "on" &&
    restoredAt !== null &&
    epochMs(midnightUtc(rule.on)) <= epochMs(restoredAt)
  );
}
