import type { FoldTiming } from "./jobs/folds.ts";

/** How long things may take and how often they are looked at, in ms; the same everywhere but in tests. */
export interface Timing extends FoldTiming {
  /** How long a sweep waits for what has reached the streams to be folded before it is held. */
  readonly fenceTimeoutMs: number;
  /** How long a sweep waits for the catalog's answer to a table. */
  readonly answerTimeoutMs: number;
}

/**
 * A process that dies is replaced within 30 s (T23): its lease runs out, and others look for it every few
 * seconds.
 */
export const DEFAULT_TIMING: Timing = {
  leaseTtlMs: 15_000,
  healEveryMs: 10_000,
  missingForMs: 5_000,
  fenceTimeoutMs: 30_000,
  answerTimeoutMs: 60_000,
};
