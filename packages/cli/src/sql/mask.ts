import type { Column, ColumnMaskToApply, Mask } from "@lapse/sdk";
import { FailedError } from "../exit.ts";
import { quoteName } from "./identifiers.ts";

/** What is shown in place of a value, whatever it is. */
const REDACTED = "***";
/** How much of a value `last` shows; of a value that has no more, it shows nothing. */
const SHOWN = 4;

/** From the one that shows least to the one that shows most. */
const BY_STRICTNESS = ["null", "redact", "hash", "last"] as const satisfies readonly Mask[];

/** One mask for each column: of several that apply to the same reader, the one that shows least. */
export function strictest(
  masks: readonly ColumnMaskToApply[],
): ReadonlyMap<string, ColumnMaskToApply> {
  const chosen = new Map<string, ColumnMaskToApply>();
  for (const mask of masks) {
    const before = chosen.get(mask.column);
    if (!before || strictness(mask) < strictness(before)) chosen.set(mask.column, mask);
  }
  return chosen;
}

function strictness({ column, mask }: ColumnMaskToApply): number {
  const place = BY_STRICTNESS.indexOf(mask);
  if (place >= 0) return place;
  throw new FailedError(
    `The mask of column ${column} (${mask}) is not one that this version of lapse can apply: update it.`,
  );
}

/**
 * What is shown of a column under a mask: `null` keeps the column's type, the others are text. A null stays null under
 * `hash` and `last`.
 */
export function maskExpression(mask: Mask, { name, type }: Column): string {
  const text = `CAST(${quoteName(name)} AS VARCHAR)`;
  switch (mask) {
    case "null":
      return `CAST(NULL AS ${type})`;
    case "redact":
      return `'${REDACTED}'`;
    case "hash":
      return `sha256(${text})`;
    case "last":
      return `CASE WHEN length(${text}) > ${SHOWN} THEN right(${text}, ${SHOWN}) WHEN ${text} IS NOT NULL THEN '${REDACTED}' END`;
  }
}
