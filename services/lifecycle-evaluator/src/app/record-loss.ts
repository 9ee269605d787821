import { assertLease, type Loss, type Pool, withTransaction } from "@lapse/kit";
import type { EvaluatorMetrics } from "../metrics.ts";
import { raiseSignalFloor, recomputeOwnDue } from "../store/basis.ts";
import { resumeAt } from "../store/fold-positions.ts";
import { FOLD_LEASE } from "./fold-lease.ts";

/**
 * Goes on after messages that were gone before they were folded. Lost activity cannot be had again, so from
 * now on every table counts as active no earlier than now: it is kept, never deleted for it. What the
 * catalog and retention-policy said, they say again.
 */
export async function recordLoss(
  {
    pool,
    token,
    metrics,
  }: {
    readonly pool: Pool;
    readonly token: bigint;
    readonly metrics: Pick<EvaluatorMetrics, "signalLost">;
  },
  { stream, resumeAt: position }: Loss,
): Promise<void> {
  await withTransaction(pool, async (tx) => {
    await assertLease(tx, FOLD_LEASE, token);
    await resumeAt(tx, stream, position);
    if (stream === "ACTIVITY") {
      await raiseSignalFloor(tx);
      await recomputeOwnDue(tx);
    }
  });
  metrics.signalLost.inc({ stream });
}
