import { epochMs } from "./instant.ts";

/** Orders two expiry instants, soonest first; null, which never comes, is last. For `sort`. */
export function compareExpiry(a: Date | null, b: Date | null): number {
  if (a === null || b === null) {
    return Number(a === null) - Number(b === null);
  }
  return epochMs(a) - epochMs(b);
}

/**
 * Whether a change from expiry `before` to expiry `after` makes a table expire sooner, or at all when it would not (T6).
 * Null is never.
 */
export function isShortened(before: Date | null, after: Date | null): boolean {
  return compareExpiry(after, before) < 0;
}
