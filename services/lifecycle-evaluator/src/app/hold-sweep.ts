import { appendDecisions, databaseClock, type Queryable } from "@lapse/kit";
import type { HeldReason, Sweep } from "../domain/sweep.ts";
import { SERVICE } from "../service-name.ts";
import { listTenants } from "../store/environments.ts";
import { countHeldAgain, loadLastSweep, loadSweep, markHeld } from "../store/sweeps.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";

/**
 * Records that a sweep was held: nothing expires until what decides can be read again. An outage is one
 * record and one decision, however often it is tried; who asked for a sweep finds its own record.
 */
export async function holdSweep(
  deps: EvaluatorDeps,
  sweepId: string,
  reason: HeldReason,
  lease: SweepLease,
): Promise<void> {
  await underLease(deps, lease, async (tx) => {
    const sweep = await loadSweep(tx, sweepId);
    const previous = await loadLastSweep(tx, sweepId);
    if (sweep === undefined) {
      return;
    }
    const repeated = previous?.status === "held" && previous.heldReason === reason;
    if (repeated && sweep.requestedBy === "" && previous.requestedBy === "") {
      await countHeldAgain(tx, { earlier: previous.sweepId, sweepId });
      return;
    }
    await markHeld(tx, sweepId, reason);
    if (!repeated) {
      await decideHeld(tx, sweep, reason);
    }
  });
  deps.metrics.held.reset();
  deps.metrics.held.set({ reason }, 1);
  deps.log.warn({ sweep_id: sweepId, reason }, "a sweep was held");
}

/** One decision for each organisation: nothing of theirs expires meanwhile. */
async function decideHeld(
  tx: Queryable,
  { sweepId, requestedBy }: Sweep,
  reason: HeldReason,
): Promise<void> {
  const tenants = await listTenants(tx);
  await appendDecisions(
    tx,
    tenants.map((tenant) => ({
      service: SERVICE,
      tenant,
      ...(requestedBy !== "" && { actor: requestedBy }),
      type: "SWEEP_HELD",
      resource: { kind: "sweep", id: sweepId },
      outcome: "kept" as const,
      reason,
      runId: sweepId,
    })),
    await databaseClock(tx).now(),
  );
}
