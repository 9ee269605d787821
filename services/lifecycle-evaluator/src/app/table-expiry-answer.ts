import { expiresSoon } from "@lapse/rules";
import { type TableExpiry, tableExpiry } from "../domain/table-expiry.ts";
import type { TableFacts } from "../domain/table-facts.ts";

/** A table's expiry as a caller is told it. */
export interface TableExpiryAnswer {
  readonly facts: TableFacts;
  readonly expiry: TableExpiry;
  /** Within the warning window (T12). */
  readonly expiresSoon: boolean;
}

/** `warningDays` are retention days. */
export function answerExpiry(
  facts: TableFacts,
  { now, warningDays }: { readonly now: Date; readonly warningDays: number },
): TableExpiryAnswer {
  const expiry = tableExpiry(facts);
  const windowMs = warningDays * facts.daySeconds * 1000;
  return { facts, expiry, expiresSoon: expiresSoon(expiry, now, windowMs) };
}
