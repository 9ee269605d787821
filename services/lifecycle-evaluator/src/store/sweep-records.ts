import { ANY_TENANT, type Queryable } from "@lapse/kit";
import type { Sweep, SweepStatus } from "../domain/sweep.ts";

interface SweepRow extends Record<string, unknown> {
  sweep_id: string;
  status: SweepStatus;
  tenant: string;
  requested_by: string;
  started_at: Date | null;
  finished_at: Date | null;
  fence: { stream: string; sequence: string }[];
  due: number;
  capped: boolean;
  held_environments: string[];
  held_reason: string;
  tally: { outcome: "dropped" | "kept" | "failed"; reason: string; tables: number }[];
}

/** As a tenant ($1) sees it: its own tables are counted, and who asked for it is told to their own tenant. */
const SWEEPS = `
  select s.sweep_id, s.status, s.tenant, s.started_at, s.finished_at, s.fence, s.held_reason,
    case when $1::text is null or s.tenant = $1 then s.requested_by else '' end as requested_by,
    own.due, own.capped, own.held_environments,
    coalesce(
      (
        select json_agg(t order by t.outcome, t.reason)
        from (
          select outcome, reason, sum(tables)::integer as tables from sweep_tally
          where sweep_id = s.sweep_id and ($1::text is null or tenant = $1)
          group by outcome, reason
        ) t
      ),
      '[]') as tally
  from sweep s
  cross join lateral (
    select coalesce(sum(due), 0)::integer as due, coalesce(bool_or(capped), false) as capped,
      array(
        select unnest(held_environments) from sweep_tenant
        where sweep_id = s.sweep_id and ($1::text is null or tenant = $1)
        order by 1
      ) as held_environments
    from sweep_tenant
    where sweep_id = s.sweep_id and ($1::text is null or tenant = $1)
  ) own
  where ($1::text is null or s.tenant in ($1, '${ANY_TENANT}'))`;

function toSweep(row: SweepRow): Sweep {
  const count = (outcome: string): number =>
    row.tally
      .filter((each) => each.outcome === outcome)
      .reduce((sum, { tables }) => sum + tables, 0);
  return {
    sweepId: row.sweep_id,
    status: row.status,
    tenant: row.tenant,
    requestedBy: row.requested_by,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    fence: row.fence.map(({ stream, sequence }) => ({ stream, sequence: BigInt(sequence) })),
    due: row.due,
    dropped: count("dropped"),
    kept: Object.fromEntries(
      row.tally
        .filter(({ outcome }) => outcome === "kept")
        .map(({ reason, tables }) => [reason, tables]),
    ),
    failed: count("failed"),
    capped: row.capped,
    heldEnvironments: row.held_environments,
    heldReason: row.held_reason,
  };
}

/** As whom a record is read: a tenant, or (null) a service, which sees those of all. */
export type Viewer = string | null;

/** The sweep; undefined: there is none of that id that the viewer's tables are in, or its record is deleted. */
export async function loadSweep(
  db: Queryable,
  sweepId: string,
  viewer: Viewer,
): Promise<Sweep | undefined> {
  const { rows } = await db.query<SweepRow>(`${SWEEPS} and s.sweep_id = $2`, [viewer, sweepId]);
  const [row] = rows;
  return row && toSweep(row);
}

/** The newest first, those before `before` only. */
export async function listSweeps(
  db: Queryable,
  {
    before,
    limit,
    viewer,
  }: { readonly before: string | null; readonly limit: number; readonly viewer: Viewer },
): Promise<readonly Sweep[]> {
  const { rows } = await db.query<SweepRow>(
    `${SWEEPS} and ($2::uuid is null or s.sweep_id < $2) order by s.sweep_id desc limit $3`,
    [viewer, before, limit],
  );
  return rows.map(toSweep);
}

/** The sweep that the viewer's tables were in and that started last, `except` left out; undefined: none has. */
export async function loadLastSweep(
  db: Queryable,
  { viewer, except }: { readonly viewer: Viewer; readonly except?: string },
): Promise<Sweep | undefined> {
  const { rows } = await db.query<SweepRow>(
    `${SWEEPS} and s.started_at is not null and s.sweep_id is distinct from $2::uuid
     order by s.started_at desc, s.sweep_id desc limit 1`,
    [viewer, except ?? null],
  );
  const [row] = rows;
  return row && toSweep(row);
}

/** Whether the last sweep of the schedule was held, and so has dropped nothing. */
export async function wasLastScheduledHeld(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>(
    `select status = 'held' as held from sweep where tenant = $1 and started_at is not null
     order by started_at desc, sweep_id desc limit 1`,
    [ANY_TENANT],
  );
  return rows[0]?.held ?? false;
}

/** Deletes the records, at most `limit`, of sweeps that ended before `before`; how many. */
export async function deleteSweepsBefore(
  db: Queryable,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from sweep where sweep_id in (
       select sweep_id from sweep where started_at < $1 and finished_at < $1 order by started_at limit $2)`,
    [before, limit],
  );
  return rowCount ?? 0;
}
