import { assertLease, type Queryable, withTransaction } from "@lapse/kit";
import type { EvaluatorDeps } from "./deps.ts";

/** Who holds it runs the sweeps; one process at a time (T23). */
export const SCHEDULER_LEASE = "scheduler";

/** The lease as its holder has it. */
export interface SweepLease {
  readonly token: bigint;
  /** Aborted when the lease is lost or given back. */
  readonly signal: AbortSignal;
}

/**
 * Runs `work` in a transaction that commits only while this process holds the lease: one that was stopped
 * for a while writes nothing.
 */
export function underLease<T>(
  { pool }: Pick<EvaluatorDeps, "pool">,
  { token }: SweepLease,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return withTransaction(pool, async (tx) => {
    await assertLease(tx, SCHEDULER_LEASE, token);
    return work(tx);
  });
}
