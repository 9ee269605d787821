import { isShortened, type TableRule } from "@lapse/rules";

/** A right on a table that setting its retention may take (T6). */
export type RetentionRight = "table.write" | "table.drop";

/** Which of the rights the caller has. The owner of the table has both. */
export type HeldRights = Readonly<Record<RetentionRight, boolean>>;

/** When the table expires before and after a change; null: it does not. */
export interface ExpiryChange {
  readonly before: Date | null;
  readonly after: Date | null;
}

/** The drop right to make a table expire sooner, or at all; the write right for all else (T6). */
export function rightFor({ before, after }: ExpiryChange): RetentionRight {
  return isShortened(before, after) ? "table.drop" : "table.write";
}

/**
 * The right that setting `rule` takes where the rule or what the caller holds decides it, be the former
 * expiry known or not: `never` makes nothing sooner, and who has both rights or none is answered alike either
 * way. Null: it depends on the former expiry.
 */
export function rightWhateverBefore(rule: TableRule, held: HeldRights): RetentionRight | null {
  if (rule.kind === "never") {
    return "table.write";
  }
  return held["table.write"] === held["table.drop"] ? "table.drop" : null;
}
