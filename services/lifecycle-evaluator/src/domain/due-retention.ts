import { isTableDue, tableExpiry } from "./table-expiry.ts";
import type { TableFacts } from "./table-facts.ts";

/**
 * The rule by which a table is due, and what it counted from (T32). Exactly one of `days` and `on` is not
 * null.
 */
export interface DueRetention {
  readonly source: "table" | "environment";
  readonly days: number | null;
  readonly on: string | null;
  readonly setBy: string;
  readonly setAt: Date;
  readonly lastActivityAt: Date;
  readonly expiredAt: Date;
}

/**
 * Why the table is due at `now`; null: it is not. The last word before a table is issued, whatever an index
 * said.
 */
export function dueRetention(facts: TableFacts, now: Date): DueRetention | null {
  const expiry = tableExpiry(facts);
  const { source, days, on, setBy, setAt, lastActivityAt, expiresAt } = expiry;
  if (
    source === null ||
    setBy === null ||
    setAt === null ||
    lastActivityAt === null ||
    expiresAt === null ||
    !isTableDue(facts, expiry, now)
  ) {
    return null;
  }
  return { source, days, on, setBy, setAt, lastActivityAt, expiredAt: expiresAt };
}
