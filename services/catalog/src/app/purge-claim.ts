import type { Logger, Pool } from "@lapse/kit";
import { type PurgeClaim, renewClaim } from "../store/purges.ts";

export interface KeptClaim {
  /** Aborted when the claim is lost, or may be: the worker must stop. */
  readonly signal: AbortSignal;
  stop(): void;
}

/**
 * Renews a claim three times per lease until stopped. A claim that could not be renewed for a whole lease counts as
 * lost, whatever the reason.
 */
export function keepClaim(
  { pool, log }: { pool: Pool; log: Logger },
  claim: PurgeClaim,
  leaseMs: number,
): KeptClaim {
  const lost = new AbortController();
  let renewedAt = performance.now();
  let renewing = false;
  const beat = async () => {
    if (renewing) return;
    renewing = true;
    const startedAt = performance.now();
    try {
      if (await renewClaim(pool, claim, leaseMs)) renewedAt = startedAt;
      else lost.abort(new Error("the claim is another worker's"));
    } catch (error) {
      log.warn({ err: error, table_id: claim.tableId }, "a purge's claim could not be renewed");
    } finally {
      renewing = false;
    }
  };
  const timer = setInterval(() => {
    if (performance.now() - renewedAt > leaseMs) lost.abort(new Error("the claim ran out"));
    else void beat();
  }, leaseMs / 3);
  return { signal: lost.signal, stop: () => clearInterval(timer) };
}
