import {
  appendDecision,
  type CallContext,
  confirmClockHold,
  databaseClock,
  notFound,
  precondition,
  type Queryable,
  withTransaction,
} from "@lapse/kit";
import type { SweepHold } from "../domain/sweep-hold.ts";
import { SERVICE } from "../service-name.ts";
import { confirmBreakerHold, listHolds, SWEEP_CLOCK } from "../store/sweep-holds.ts";
import { authorise, tenantOf } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { SWEEPS } from "./request-sweep.ts";

/**
 * Says that what a guard has stopped is meant (T26): the next sweep goes on with it. To confirm what is confirmed
 * changes nothing.
 *
 * @throws not_found `SWEEP_HOLD_NOT_FOUND`; precondition `SWEEP_HOLD_ENDED`; as `authorise`
 */
export async function confirmSweepHold(
  deps: EvaluatorDeps,
  holdId: string,
  call: CallContext,
): Promise<SweepHold> {
  await authorise(deps, call, "sweep.manage", SWEEPS);
  const tenant = tenantOf(call.principal);
  return withTransaction(deps.pool, async (tx) => {
    const hold = await findHold(tx, holdId, tenant);
    if (hold.confirmedAt !== null) {
      return hold;
    }
    await confirm(tx, hold, call.principal.subject);
    await decide(tx, hold, call);
    return findHold(tx, holdId, tenant);
  });
}

async function findHold(tx: Queryable, holdId: string, tenant: string | null): Promise<SweepHold> {
  const [hold] = await listHolds(tx, { tenant, holdId, all: true, before: null, limit: 1 });
  if (hold === undefined) {
    throw notFound(
      "SWEEP_HOLD_NOT_FOUND",
      `there is no hold ${holdId}; look at the list of what waits for a confirmation`,
    );
  }
  return hold;
}

async function confirm(
  tx: Queryable,
  { holdId, kind, tenant }: SweepHold,
  by: string,
): Promise<void> {
  const confirmed =
    kind === "clock"
      ? await confirmClockHold(tx, { use: SWEEP_CLOCK, tenant, by, holdId })
      : await confirmBreakerHold(tx, { holdId, tenant, by });
  if (confirmed === undefined) {
    throw precondition(
      "SWEEP_HOLD_ENDED",
      `the hold ${holdId} is over, confirmed by another, fallen away or followed by a newer one; look at the list of what waits for a confirmation`,
    );
  }
}

async function decide(
  tx: Queryable,
  { holdId, kind, tenant, breaker, clock }: SweepHold,
  { principal, traceparent }: CallContext,
): Promise<void> {
  await appendDecision(
    tx,
    {
      service: SERVICE,
      tenant,
      actor: principal.subject,
      type: "SWEEP_CONFIRMED",
      resource:
        breaker === null
          ? SWEEPS
          : {
              kind: "environment",
              id: breaker.environmentId,
              name: breaker.environment,
              environment: breaker.environment,
            },
      outcome: "done",
      reason: kind,
      details: {
        hold_id: holdId,
        ...(breaker !== null && {
          due: breaker.due,
          tables: breaker.tables,
          share: breaker.share,
        }),
        ...(clock !== null && {
          last_seen_at: clock.lastSeenAt.toISOString(),
          now: clock.now.toISOString(),
        }),
      },
      traceparent,
    },
    await databaseClock(tx).now(),
  );
}
