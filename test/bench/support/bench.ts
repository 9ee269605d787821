import type { Figure } from "./report.ts";

/** One bench: what it measures is said by its figures. */
export interface Bench {
  readonly name: string;
  readonly parameters: string;
  /** Leaves nothing behind. */
  run(): Promise<readonly Figure[]>;
}

/** Also what takes minutes to prepare. */
export const isFull = process.env.BENCH_FULL === "1";
