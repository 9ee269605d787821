import type { Queryable } from "@lapse/kit";

/** That a tenant's sweeps are paused. */
export interface SweepPause {
  readonly pausedBy: string;
  /** Empty: none was given. */
  readonly reason: string;
}

/** The pause of a tenant; undefined: its sweeps run. */
export async function findPause(db: Queryable, tenant: string): Promise<SweepPause | undefined> {
  const { rows } = await db.query<{ paused_by: string; reason: string }>(
    `select paused_by, reason from sweep_pause where tenant = $1`,
    [tenant],
  );
  const [row] = rows;
  return row && { pausedBy: row.paused_by, reason: row.reason };
}

/** The tenants whose sweeps are paused. */
export async function listPausedTenants(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ tenant: string }>(`select tenant from sweep_pause`);
  return rows.map(({ tenant }) => tenant);
}

/** Whether there are pauses, and every tenant that has environments is paused. */
export async function isEverybodyPaused(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ everybody: boolean }>(
    `select exists (select from sweep_pause) and not exists (
       select from environment_state e
       where e.change_version > 0 and not e.deleted
         and not exists (select from sweep_pause p where p.tenant = e.tenant)) as everybody`,
  );
  return rows[0]?.everybody ?? false;
}

/** Pauses a tenant's sweeps, or puts who did so last and why in place of what was there. */
export async function savePause(
  tx: Queryable,
  tenant: string,
  { pausedBy, reason }: SweepPause,
): Promise<void> {
  await tx.query(
    `insert into sweep_pause (tenant, paused_by, reason, paused_at) values ($1, $2, $3, now())
     on conflict (tenant) do update set paused_by = excluded.paused_by, reason = excluded.reason`,
    [tenant, pausedBy, reason],
  );
}

/** Lets a tenant's sweeps run again. */
export async function deletePause(tx: Queryable, tenant: string): Promise<void> {
  await tx.query(`delete from sweep_pause where tenant = $1`, [tenant]);
}
