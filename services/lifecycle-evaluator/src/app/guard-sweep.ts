import {
  ANY_TENANT,
  appendDecisions,
  type DecisionEvent,
  heldByClock,
  type Pool,
  type Queryable,
  withTransaction,
} from "@lapse/kit";
import { type BreakerVerdict, confirmedUntil, hasBreaker, judge } from "../domain/breaker.ts";
import type { SweepHold } from "../domain/sweep-hold.ts";
import { SERVICE } from "../service-name.ts";
import { countLoads } from "../store/breaker-counts.ts";
import type { DueScope } from "../store/due-tables.ts";
import { listTenants } from "../store/environments.ts";
import { endHolds, loadOpenHolds, raiseHolds, SWEEP_CLOCK } from "../store/sweep-holds.ts";
import { listPausedTenants } from "../store/sweep-pauses.ts";
import { recordHeldEnvironments } from "../store/sweeps.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { type SweepLease, underLease } from "./sweep-lease.ts";
import { lookAtSweepClock } from "./watch-clock.ts";

/** What the guards say of a sweep. */
export interface Guarded {
  /** What it may take. */
  readonly scope: DueScope;
  /** Whose tables it may take. */
  readonly tenants: readonly string[];
  readonly breaker: BreakerVerdict;
  /** Whether the clock holds everybody it would serve. */
  readonly heldByClock: boolean;
}

/** A sweep that may go on. */
export interface GuardedSweep extends Guarded {
  /** What is due by then is taken; what becomes due later is the next one's, so a sweep ends. */
  readonly horizon: Date;
}

/**
 * What a sweep of a tenant's tables (null: of all tenants') may take (T26): nothing of tenants that are paused or
 * whose clock is not confirmed, and of an environment of which too much is due only what was confirmed. Writes
 * nothing.
 */
export async function readGuards(
  { pool, rules }: Pick<EvaluatorDeps, "pool" | "rules">,
  {
    tenant,
    horizon,
    evenPaused = false,
  }: { readonly tenant: string | null; readonly horizon: Date; readonly evenPaused?: boolean },
): Promise<Guarded> {
  const [paused, held, tenants] = await Promise.all([
    evenPaused ? [] : listPausedTenants(pool),
    heldByClock(pool, SWEEP_CLOCK),
    tenant === null ? listTenants(pool) : [tenant],
  ]);
  const exceptTenants = [...new Set([...paused, ...held])];
  const served = tenants.filter((each) => !exceptTenants.includes(each));
  const breaker = await readBreaker(pool, {
    horizon,
    scope: { tenant, exceptTenants },
    share: rules.maxExpiryShare,
  });
  return {
    scope: { tenant, exceptTenants, limits: breaker.limits },
    tenants: served,
    breaker,
    heldByClock: served.length === 0 && tenants.some((each) => held.has(each)),
  };
}

/** Counts and judges, in a transaction that only reads. */
async function readBreaker(
  pool: Pool,
  query: {
    readonly horizon: Date;
    readonly scope: Pick<DueScope, "tenant" | "exceptTenants">;
    readonly share: number;
  },
): Promise<BreakerVerdict> {
  const { scope, share } = query;
  return withTransaction(pool, async (tx) => {
    const open = await loadOpenHolds(tx, scope.tenant);
    const holds = open.filter(({ tenant }) => !scope.exceptTenants.includes(tenant));
    const until = confirmedUntil(holds);
    const loads = hasBreaker(share) ? await countLoads(tx, { ...query, confirmed: until }) : [];
    return judge(loads, holds, share);
  });
}

/**
 * Takes a look at the clock and lets the guards judge, right before a sweep picks; the fence is passed. What they
 * hold is recorded, once for each hold.
 */
export async function guardSweep(
  deps: EvaluatorDeps,
  { sweepId, tenant }: { readonly sweepId: string; readonly tenant: string },
  lease: SweepLease,
): Promise<GuardedSweep> {
  const horizon = await underLease(deps, lease, (tx) => lookAtSweepClock(tx, deps));
  const guarded = await readGuards(deps, {
    tenant: tenant === ANY_TENANT ? null : tenant,
    horizon,
  });
  const { raise, fallen, done, held } = guarded.breaker;
  const raised = await underLease(deps, lease, async (tx) => {
    await endHolds(tx, { fallen, done });
    await recordHeldEnvironments(tx, sweepId, held);
    const holds = await raiseHolds(tx, raise, { horizon, share: deps.rules.maxExpiryShare });
    await decide(tx, holds, { sweepId, horizon });
    return holds;
  });
  for (const { holdId, tenant: of, breaker } of raised) {
    deps.log.warn(
      { hold_id: holdId, tenant: of, ...breaker },
      "too much of an environment is due at once: it is left out until an admin confirms",
    );
  }
  return { ...guarded, horizon };
}

async function decide(
  tx: Queryable,
  holds: readonly SweepHold[],
  { sweepId, horizon }: { readonly sweepId: string; readonly horizon: Date },
): Promise<void> {
  await appendDecisions(
    tx,
    holds.flatMap(({ holdId, tenant, breaker }): DecisionEvent[] =>
      breaker === null
        ? []
        : [
            {
              service: SERVICE,
              tenant,
              type: "SWEEP_HELD",
              resource: {
                kind: "environment",
                id: breaker.environmentId,
                name: breaker.environment,
                environment: breaker.environment,
              },
              outcome: "kept",
              reason: "breaker",
              details: {
                hold_id: holdId,
                due: breaker.due,
                tables: breaker.tables,
                share: breaker.share,
              },
              runId: sweepId,
            },
          ],
    ),
    horizon,
  );
}
