import type { Queryable } from "@lapse/kit";

/** Whether sweeps may run, and when one last started. */
export interface SweepControl {
  readonly paused: boolean;
  readonly pausedBy: string;
  readonly pauseReason: string;
  readonly lastStartedAt: Date | null;
  /** The database clock. */
  readonly now: Date;
}

interface ControlRow extends Record<string, unknown> {
  paused: boolean;
  paused_by: string;
  pause_reason: string;
  last_started_at: Date | null;
  now: Date;
}

const CONTROL = `select paused, paused_by, pause_reason, last_started_at, now()::timestamptz(3) as now from sweep_control`;

/** The control as it is. */
export const loadSweepControl = (db: Queryable): Promise<SweepControl> => load(db, CONTROL);

/**
 * The control, not to be changed by another until the transaction ends: nothing starts while it is being
 * paused.
 */
export const lockSweepControl = (tx: Queryable): Promise<SweepControl> =>
  load(tx, `${CONTROL} for update`);

async function load(db: Queryable, sql: string): Promise<SweepControl> {
  const { rows } = await db.query<ControlRow>(sql);
  const [row] = rows;
  if (row === undefined) {
    throw new Error("sweep_control has lost its row");
  }
  return {
    paused: row.paused,
    pausedBy: row.paused_by,
    pauseReason: row.pause_reason,
    lastStartedAt: row.last_started_at,
    now: row.now,
  };
}

/** Pauses the sweeps, or lets them run again (null). */
export async function setPaused(
  tx: Queryable,
  pause: { readonly by: string; readonly reason: string } | null,
): Promise<void> {
  await tx.query(`update sweep_control set paused = $1, paused_by = $2, pause_reason = $3`, [
    pause !== null,
    pause?.by ?? "",
    pause?.reason ?? "",
  ]);
}

/** The schedule counts from now. */
export async function noteSweepStart(tx: Queryable): Promise<void> {
  await tx.query(`update sweep_control set last_started_at = now()`);
}
