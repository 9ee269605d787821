import type { FoldedStream } from "./fence.ts";
import type { Sweep } from "./sweep.ts";

/** How far one stream is folded. */
interface FoldStatus {
  readonly stream: FoldedStream;
  readonly foldedSequence: bigint;
  /** Null: the broker cannot be asked. */
  readonly lastSequence: bigint | null;
  /** Events known to be missing. */
  readonly missing: bigint;
}

/** How the evaluator is. */
export interface EvaluatorStatus {
  readonly folds: readonly FoldStatus[];
  readonly paused: boolean;
  readonly pausedBy: string;
  readonly pauseReason: string;
  /** 0: the schedule is off. */
  readonly intervalSeconds: number;
  /** Null: the schedule starts none. */
  readonly nextSweepAt: Date | null;
  readonly lastSweep: Sweep | undefined;
  /** Who holds the scheduler lease; empty: nobody. */
  readonly scheduler: string;
}
