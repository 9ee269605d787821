import { effectiveRule, type TableRetention } from "@lapse/rules";

/**
 * The table's own rule after a restore at `restoredAt`: a day that had come then is removed, or the table would
 * go again at once (T28).
 */
export function ruleAfterRestore(
  rule: TableRetention | null,
  restoredAt: Date,
): TableRetention | null {
  const follows = effectiveRule({
    kind: "managed",
    tableRule: rule,
    environmentRule: null,
    restoredAt,
  });
  return follows === null ? null : rule;
}
