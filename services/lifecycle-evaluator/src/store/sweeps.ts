import type { Queryable } from "@lapse/kit";
import type { HeldReason, StreamPosition } from "../domain/sweep.ts";

/** Asks for a sweep of a tenant's tables; the id of the one that waits, which may be another's. */
export async function requestSweep(
  tx: Queryable,
  {
    sweepId,
    tenant,
    requestedBy,
  }: { readonly sweepId: string; readonly tenant: string; readonly requestedBy: string },
): Promise<string> {
  const { rows } = await tx.query<{ sweep_id: string }>(
    `insert into sweep (sweep_id, status, tenant, requested_by, requested_at)
     values ($1, 'requested', $2, $3, now())
     on conflict (tenant) where status = 'requested'
     -- Changes nothing, and has the row that was there returned.
     do update set requested_by = sweep.requested_by
     returning sweep_id`,
    [sweepId, tenant, requestedBy],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error("a requested sweep was neither stored nor found");
  }
  return row.sweep_id;
}

/** A sweep that somebody waits for. */
export interface RequestedSweep {
  readonly sweepId: string;
  readonly tenant: string;
  readonly requestedAt: Date;
}

/** The sweep that somebody has waited for longest; undefined: nobody waits. */
export async function findRequestedSweep(tx: Queryable): Promise<RequestedSweep | undefined> {
  const { rows } = await tx.query<{ sweep_id: string; tenant: string; requested_at: Date }>(
    `select sweep_id, tenant, requested_at from sweep where status = 'requested'
     order by requested_at, sweep_id limit 1`,
  );
  const [row] = rows;
  return row && { sweepId: row.sweep_id, tenant: row.tenant, requestedAt: row.requested_at };
}

/** Records sweeps as held that tenants wait for which have paused since. */
export async function holdPausedRequests(tx: Queryable): Promise<void> {
  await tx.query(
    `update sweep s set status = 'held', started_at = now(), finished_at = now(), held_reason = 'paused'
     from sweep_pause p where s.status = 'requested' and p.tenant = s.tenant`,
  );
}

/** Records that a sweep runs from now on; it is stored if the schedule starts it. */
export async function startSweep(
  tx: Queryable,
  { sweepId, tenant }: { readonly sweepId: string; readonly tenant: string },
): Promise<void> {
  await tx.query(
    `insert into sweep (sweep_id, status, tenant, started_at) values ($1, 'running', $2, now())
     on conflict (sweep_id) do update set status = 'running', started_at = now()`,
    [sweepId, tenant],
  );
}

/** What ran when its process died runs no more. What it has issued may still be answered. */
export async function interruptRunningSweep(tx: Queryable): Promise<string | undefined> {
  const { rows } = await tx.query<{ sweep_id: string }>(
    `update sweep set status = 'interrupted', finished_at = now() where status = 'running'
     returning sweep_id`,
  );
  return rows[0]?.sweep_id;
}

/** Records up to where everything counts. */
export async function recordFence(
  tx: Queryable,
  sweepId: string,
  fence: readonly StreamPosition[],
): Promise<void> {
  const positions = fence.map(({ stream, sequence }) => ({ stream, sequence: String(sequence) }));
  await tx.query(`update sweep set fence = $2 where sweep_id = $1`, [
    sweepId,
    JSON.stringify(positions),
  ]);
}

/** Notes which environments the breaker keeps out of a sweep, by tenant. */
export async function recordHeldEnvironments(
  tx: Queryable,
  sweepId: string,
  held: readonly { readonly tenant: string; readonly environment: string }[],
): Promise<void> {
  await tx.query(
    `insert into sweep_tenant (sweep_id, tenant, held_environments)
     select $1, h.tenant, array_agg(h.environment order by h.environment)
     from unnest($2::text[], $3::text[]) as h (tenant, environment)
     group by h.tenant
     on conflict (sweep_id, tenant) do update set held_environments = excluded.held_environments`,
    [sweepId, held.map(({ tenant }) => tenant), held.map(({ environment }) => environment)],
  );
}

/** Notes of which tenants the cap has left tables to the next sweep. */
export async function recordCapped(
  tx: Queryable,
  sweepId: string,
  tenants: readonly string[],
): Promise<void> {
  await tx.query(
    `insert into sweep_tenant (sweep_id, tenant, capped)
     select $1, t, true from unnest($2::text[]) as t
     on conflict (sweep_id, tenant) do update set capped = true`,
    [sweepId, tenants],
  );
}

/** Records the end of a sweep; when that is. */
export async function completeSweep(tx: Queryable, sweepId: string): Promise<Date> {
  const { rows } = await tx.query<{ finished_at: Date }>(
    `update sweep set status = 'completed', finished_at = now() where sweep_id = $1
     returning finished_at`,
    [sweepId],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error(`the record of sweep ${sweepId} is gone`);
  }
  return row.finished_at;
}

/** Records that a sweep was held. */
export async function markHeld(tx: Queryable, sweepId: string, reason: HeldReason): Promise<void> {
  await tx.query(
    `update sweep set status = 'held', started_at = coalesce(started_at, now()), finished_at = now(),
       held_reason = $2
     where sweep_id = $1`,
    [sweepId, reason],
  );
}

/**
 * Counts one more attempt of a held sweep, in place of a record of its own: an outage of a day is one
 * record.
 */
export async function countHeldAgain(
  tx: Queryable,
  { earlier, sweepId }: { readonly earlier: string; readonly sweepId: string },
): Promise<void> {
  await tx.query(`delete from sweep where sweep_id = $1`, [sweepId]);
  await tx.query(
    `update sweep set attempts = attempts + 1, finished_at = now() where sweep_id = $1`,
    [earlier],
  );
}
