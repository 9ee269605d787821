import { newId, type Queryable } from "@lapse/kit";
import type { EnvironmentLoad, OpenHold } from "../domain/breaker.ts";
import type { SweepHold } from "../domain/sweep-hold.ts";

/** Names the kit's watch of the clock that sweeps go by. */
export const SWEEP_CLOCK = "sweep";

/** The holds of the breaker that have not ended, confirmed ones too; of one tenant, or (null) of all. */
export async function loadOpenHolds(
  db: Queryable,
  tenant: string | null,
): Promise<readonly OpenHold[]> {
  const { rows } = await db.query<{
    hold_id: string;
    tenant: string;
    environment_id: string;
    horizon: Date;
    confirmed: boolean;
  }>(
    `select hold_id, tenant, environment_id, horizon, confirmed_at is not null as confirmed
     from sweep_hold where ended_at is null and ($1::text is null or tenant = $1)`,
    [tenant],
  );
  return rows.map((row) => ({
    holdId: row.hold_id,
    tenant: row.tenant,
    environmentId: row.environment_id,
    horizon: row.horizon,
    confirmed: row.confirmed,
  }));
}

/** Holds these environments back; gives what was not held before. */
export async function raiseHolds(
  tx: Queryable,
  loads: readonly EnvironmentLoad[],
  { horizon, share }: { readonly horizon: Date; readonly share: number },
): Promise<readonly SweepHold[]> {
  const { rows } = await tx.query<HoldRow>(
    `insert into sweep_hold (
       hold_id, tenant, kind, environment_id, environment, due, tables, horizon, share, raised_at)
     select h.hold_id, h.tenant, 'breaker', h.environment_id, h.environment, h.due, h.tables, $7, $8, now()
     from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::integer[], $6::integer[])
       as h (hold_id, tenant, environment_id, environment, due, tables)
     on conflict do nothing
     returning ${BREAKER}`,
    [
      loads.map(() => newId()),
      loads.map(({ tenant }) => tenant),
      loads.map(({ environmentId }) => environmentId),
      loads.map(({ environment }) => environment),
      loads.map(({ due }) => due),
      loads.map(({ tables }) => tables),
      horizon,
      share,
    ],
  );
  return rows.map(toHold);
}

/**
 * Ends holds: those nobody needs to confirm any more, unless somebody just has, and those that are confirmed and
 * done.
 */
export async function endHolds(
  tx: Queryable,
  { fallen, done }: { readonly fallen: readonly string[]; readonly done: readonly string[] },
): Promise<void> {
  await tx.query(
    `update sweep_hold set ended_at = now()
     where ended_at is null
       and (hold_id = any($1::uuid[]) and confirmed_at is null or hold_id = any($2::uuid[]))`,
    [fallen, done],
  );
}

/** Confirms a hold of the breaker that waits for it; undefined: there is none of that id in the tenant. */
export async function confirmBreakerHold(
  tx: Queryable,
  {
    holdId,
    tenant,
    by,
  }: { readonly holdId: string; readonly tenant: string | null; readonly by: string },
): Promise<SweepHold | undefined> {
  const { rows } = await tx.query<HoldRow>(
    `update sweep_hold set confirmed_by = $3, confirmed_at = now()
     where hold_id = $1 and ($2::text is null or tenant = $2) and confirmed_at is null and ended_at is null
     returning ${BREAKER}`,
    [holdId, tenant, by],
  );
  return rows.map(toHold)[0];
}

/** Which holds are wanted. */
export interface HoldQuery {
  /** Null: of all tenants. */
  readonly tenant: string | null;
  /** Only the one of this id. */
  readonly holdId?: string;
  /** Also those that are confirmed or over. */
  readonly all: boolean;
  /** Those before this id only; null: from the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** Holds of both kinds, the newest first. */
export async function listHolds(db: Queryable, query: HoldQuery): Promise<readonly SweepHold[]> {
  const { rows } = await db.query<HoldRow>(
    `select * from (
       select ${BREAKER} from sweep_hold
       union all
       select ${CLOCK} from lapse_kit.clock_hold where use = $6
     ) h
     where ($1::text is null or tenant = $1) and ($2::uuid is null or hold_id = $2)
       and ($3 or (confirmed_at is null and not ended)) and ($4::uuid is null or hold_id < $4)
     order by hold_id desc limit $5`,
    [query.tenant, query.holdId ?? null, query.all, query.before, query.limit, SWEEP_CLOCK],
  );
  return rows.map(toHold);
}

/** How many holds wait for somebody to confirm them. */
export async function countWaitingHolds(
  db: Queryable,
): Promise<Readonly<Record<SweepHold["kind"], number>>> {
  const { rows } = await db.query<{ breaker: number; clock: number }>(
    `select
       (select count(*)::integer from sweep_hold where confirmed_at is null and ended_at is null) as breaker,
       (select count(*)::integer from lapse_kit.clock_hold where use = $1 and ended_at is null) as clock`,
    [SWEEP_CLOCK],
  );
  return rows[0] ?? { breaker: 0, clock: 0 };
}

/** Deletes the holds, at most `limit`, that ended before `before`; how many. */
export async function deleteHoldsBefore(
  db: Queryable,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from sweep_hold where hold_id in (
       select hold_id from sweep_hold where ended_at < $1 order by ended_at limit $2)`,
    [before, limit],
  );
  return rowCount ?? 0;
}

interface HoldRow extends Record<string, unknown> {
  hold_id: string;
  tenant: string;
  kind: SweepHold["kind"];
  environment_id: string | null;
  environment: string | null;
  due: number | null;
  tables: number | null;
  share: number | null;
  last_seen_at: Date | null;
  raised_at: Date;
  confirmed_by: string | null;
  confirmed_at: Date | null;
  ended: boolean;
}

const BREAKER = `
  hold_id, tenant, kind, environment_id, environment, due, tables, share, null::timestamptz(3) as last_seen_at,
  raised_at, confirmed_by, confirmed_at, ended_at is not null as ended`;

const CLOCK = `
  hold_id, tenant, 'clock', null, null, null, null, null, last_seen_at,
  raised_at, confirmed_by, confirmed_at, ended_at is not null`;

function toHold(row: HoldRow): SweepHold {
  const { environment_id, environment, due, tables, share, last_seen_at } = row;
  return {
    holdId: row.hold_id,
    kind: row.kind,
    tenant: row.tenant,
    breaker:
      environment_id === null
        ? null
        : {
            environmentId: environment_id,
            environment: environment ?? "",
            due: due ?? 0,
            tables: tables ?? 0,
            share: share ?? 0,
          },
    clock: last_seen_at === null ? null : { lastSeenAt: last_seen_at, now: row.raised_at },
    raisedAt: row.raised_at,
    confirmedBy: row.confirmed_by,
    confirmedAt: row.confirmed_at,
    ended: row.ended,
  };
}
