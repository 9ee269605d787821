import {
  appendDecisions,
  type ClockFault,
  describeClockFault,
  LapseError,
  lookAtClock,
  peekAtClock,
  type Queryable,
} from "@lapse/kit";
import { SERVICE } from "../service-name.ts";
import { listTenants } from "../store/environments.ts";
import { SWEEP_CLOCK } from "../store/sweep-holds.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { passSignal } from "./pass-signal.ts";
import { SWEEPS } from "./request-sweep.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";

/** How long to wait for the tenants to be known before a jump of the clock is recorded for each. */
const SIGNAL_TIMEOUT_MS = 5_000;

/** The watch over the clock that sweeps go by. */
export const sweepClock = ({ rules }: Pick<EvaluatorDeps, "rules">) => ({
  use: SWEEP_CLOCK,
  intervalMs: rules.intervalSeconds * 1000,
});

/**
 * Looks at the clock, at every turn of the scheduler: whether sweeps may go on. A jump is recorded for every
 * tenant there is, so it waits until all that has been said of tenants is folded; until then nothing may.
 */
export async function watchClock(deps: EvaluatorDeps, lease: SweepLease): Promise<boolean> {
  const { fault } = await peekAtClock(deps.pool, sweepClock(deps));
  if (fault !== null && !(await areTenantsKnown(deps, lease, fault))) {
    return false;
  }
  await underLease(deps, lease, (tx) => lookAtSweepClock(tx, deps));
  return true;
}

/** The look itself, once all that has been said of tenants is folded; what the clock says. */
export async function lookAtSweepClock(tx: Queryable, deps: EvaluatorDeps): Promise<Date> {
  const { now, fault, raised } = await lookAtClock(tx, {
    ...sweepClock(deps),
    tenants: () => listTenants(tx),
  });
  if (fault !== null) {
    await appendDecisions(
      tx,
      raised.map(({ holdId, tenant, lastSeenAt }) => ({
        service: SERVICE,
        tenant,
        type: "SWEEP_HELD",
        resource: SWEEPS,
        outcome: "kept" as const,
        reason: "clock",
        details: {
          hold_id: holdId,
          clock: fault.kind,
          last_seen_at: lastSeenAt.toISOString(),
          now: now.toISOString(),
        },
      })),
      now,
    );
    deps.log.warn(
      { clock: fault.kind },
      `nothing expires until confirmed: ${describeClockFault(fault)}`,
    );
  }
  return now;
}

async function areTenantsKnown(
  deps: EvaluatorDeps,
  { signal }: SweepLease,
  fault: ClockFault,
): Promise<boolean> {
  try {
    await passSignal(deps, { timeoutMs: SIGNAL_TIMEOUT_MS, signal });
    return true;
  } catch (error) {
    if (error instanceof LapseError && error.kind === "unavailable") {
      deps.log.warn(
        { err: error },
        `no sweep starts, and the event streams cannot be read: ${describeClockFault(fault)}`,
      );
      return false;
    }
    throw error;
  }
}
