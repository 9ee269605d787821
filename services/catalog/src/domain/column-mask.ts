/** Strictest first: what shows less. */
export const MASKS = ["null", "redact", "hash", "last"] as const;
export type Mask = (typeof MASKS)[number];

/** What those it applies to see in place of a column's values. */
export interface ColumnMask {
  readonly column: string;
  /** A subject, `role:<role>` or `*`. */
  readonly appliesTo: string;
  readonly mask: Mask;
  readonly setBy: string;
  readonly setAt: Date;
}

/** Masks on one table at most. */
export const MAX_MASKS = 100;

export const isMask = (text: string): text is Mask => MASKS.some((mask) => mask === text);

/** The one that shows less. */
export const stricter = (a: Mask, b: Mask): Mask => (MASKS.indexOf(a) <= MASKS.indexOf(b) ? a : b);
