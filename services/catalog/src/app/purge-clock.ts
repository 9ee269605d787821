import { type ClockHold, confirmClockHold, findClockHold } from "@lapse/kit";
import { transactionTime } from "../store/now.ts";
import { countWaitingPurges } from "../store/purges.ts";
import { requireRightOn, tenantResource } from "./access.ts";
import { type Call, type Caller, change, recordingRefusals } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { tenantStanding } from "./effective-rights.ts";
import { tenantOf } from "./find-environment.ts";
import { PURGE_CLOCK } from "./watch-clock.ts";

export interface PurgeStatus {
  /** Undefined: purges run. */
  readonly hold: ClockHold | undefined;
  readonly now: Date;
  /** Tables of the tenant whose files are to be deleted now, or as soon as the hold has ended. */
  readonly waiting: number;
}

/** Whether the purges of the caller's tenant wait for somebody to confirm the clock, and how many. */
export const getPurgeStatus = (deps: CatalogDeps, caller: Caller): Promise<PurgeStatus> =>
  recordingRefusals(deps, caller, async () => {
    const { pool } = deps;
    const tenant = tenantOf(caller.principal);
    await requireManaging(deps.pool, caller, tenant);
    const hold = await findClockHold(pool, { use: PURGE_CLOCK.use, tenant });
    const waiting = await countWaitingPurges(pool, tenant);
    return { hold, now: await transactionTime(pool), waiting };
  });

/** Says that the clock is right, for the caller's tenant: its purges go on. Without a hold there is nothing to say. */
export const confirmPurgeClock = <A>(deps: CatalogDeps, call: Call<void, A>): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const tenant = tenantOf(principal);
    await requireManaging(tx, call, tenant);
    const hold = await confirmClockHold(tx, {
      use: PURGE_CLOCK.use,
      tenant,
      by: principal.subject,
    });
    if (!hold) return;
    await appendCatalogDecision(tx, now, {
      type: "PURGE_CONFIRMED",
      tenant,
      actor: principal.subject,
      resource: tenantResource(tenant),
      outcome: "done",
      reason: "request",
      details: {
        hold_id: hold.holdId,
        last_seen_at: hold.lastSeenAt.toISOString(),
        raised_at: hold.raisedAt.toISOString(),
      },
      traceparent,
    });
  });

async function requireManaging(
  db: Parameters<typeof tenantStanding>[0],
  { principal }: Caller,
  tenant: string,
): Promise<void> {
  const standing = await tenantStanding(db, principal);
  requireRightOn(principal, standing, "environment.manage", tenantResource(tenant));
}
