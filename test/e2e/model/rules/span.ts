/**
 * An instant as far as it is known, in ms since the epoch, both ends included: what happened during a call
 * happened somewhere in it, until the system has said when.
 */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Whether something holds, as far as the instants are known. */
export type Verdict = "yes" | "no" | "maybe";

export const DAY_MS = 86_400_000;

export const exactly = (ms: number): Span => ({ from: ms, to: ms });

export const plus = ({ from, to }: Span, ms: number): Span => ({ from: from + ms, to: to + ms });

/** The later of two instants. */
export const later = (a: Span, b: Span): Span => ({
  from: Math.max(a.from, b.from),
  to: Math.max(a.to, b.to),
});

export const contains = ({ from, to }: Span, ms: number): boolean => from <= ms && ms <= to;

/** Whether `a` comes before `b`. */
export function isBefore(a: Span, b: Span): Verdict {
  if (a.to < b.from) return "yes";
  return a.from >= b.to ? "no" : "maybe";
}

/** Whether `instant` has come at `now`: from it on. */
export function hasCome(instant: Span, now: Span): Verdict {
  if (instant.to <= now.from) return "yes";
  return instant.from > now.to ? "no" : "maybe";
}

/** Whether all of them hold. */
export function all(...verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("no")) return "no";
  return verdicts.includes("maybe") ? "maybe" : "yes";
}

export const not = (verdict: Verdict): Verdict =>
  verdict === "maybe" ? "maybe" : verdict === "yes" ? "no" : "yes";

export const certain = (holds: boolean): Verdict => (holds ? "yes" : "no");
