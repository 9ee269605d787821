import { ANY_TENANT, appendDecisions, databaseClock, type Queryable } from "@lapse/kit";
import type { HeldReason, Sweep } from "../domain/sweep.ts";
import { SERVICE } from "../service-name.ts";
import { listTenants } from "../store/environments.ts";
import { loadLastSweep, loadSweep } from "../store/sweep-records.ts";
import { countHeldAgain, markHeld } from "../store/sweeps.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";

/**
 * Records that a sweep was held: nothing expires until what decides can be read again. An outage is one
 * record and one decision, however often it is tried; who asked for a sweep finds its own record. A jump of the
 * clock was decided when it was seen.
 */
export async function holdSweep(
  deps: EvaluatorDeps,
  sweepId: string,
  reason: HeldReason,
  lease: SweepLease,
): Promise<void> {
  await underLease(deps, lease, async (tx) => {
    const sweep = await loadSweep(tx, sweepId, null);
    if (sweep === undefined) {
      return;
    }
    const previous = await loadLastSweep(tx, { viewer: sweep.tenant, except: sweepId });
    const repeated = previous?.status === "held" && previous.heldReason === reason;
    if (repeated && sweep.requestedBy === "" && previous.requestedBy === "") {
      await countHeldAgain(tx, { earlier: previous.sweepId, sweepId });
      return;
    }
    await markHeld(tx, sweepId, reason);
    if (!repeated && reason !== "clock") {
      await decideHeld(tx, sweep, reason);
    }
  });
  deps.metrics.held.reset();
  deps.metrics.held.set({ reason }, 1);
  deps.log.warn({ sweep_id: sweepId, reason }, "a sweep was held");
}

/** One decision for each organisation it would have served: nothing of theirs expires meanwhile. */
async function decideHeld(
  tx: Queryable,
  { sweepId, tenant, requestedBy }: Sweep,
  reason: HeldReason,
): Promise<void> {
  const tenants = tenant === ANY_TENANT ? await listTenants(tx) : [tenant];
  await appendDecisions(
    tx,
    tenants.map((each) => ({
      service: SERVICE,
      tenant: each,
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
