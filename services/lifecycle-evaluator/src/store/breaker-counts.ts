import type { Queryable } from "@lapse/kit";
import { type EnvironmentLoad, fewestTooMuch, LEAST_TABLES } from "../domain/breaker.ts";
import type { DueScope } from "./due-tables.ts";

/** What is counted. */
export interface LoadQuery {
  /** Tables whose expiry is at or before this instant are due. */
  readonly horizon: Date;
  readonly scope: Pick<DueScope, "tenant" | "exceptTenants">;
  readonly share: number;
  /** Environments that are counted in any case, with the expiry up to which they are confirmed. */
  readonly confirmed: ReadonlyMap<string, Date>;
}

/**
 * Counts the due tables of each environment that has enough of them to be held back. Others cost a probe of
 * two indexes that stops at a handful; of those that are counted, the live tables are counted no further than
 * it takes to say that the due ones are too small a share. Runs in a transaction.
 */
export async function countLoads(
  tx: Queryable,
  query: LoadQuery,
): Promise<readonly EnvironmentLoad[]> {
  // As in findDueTables: the planner cannot know that the probes stop early. Nor that an environment's tables lie
  // together: it would read all tables for the first few of one.
  await tx.query(
    `set local jit = off; set local enable_bitmapscan = off; set local enable_seqscan = off`,
  );
  const { rows } = await tx.query<{
    environment_id: string;
    environment: string;
    tenant: string;
    due: bigint;
    covered: bigint;
    tables: bigint;
  }>({
    name: "count-loads",
    text: COUNT_LOADS,
    values: loadValues(query),
  });
  return rows.map(({ environment_id, environment, tenant, due, covered, tables }) => ({
    environmentId: environment_id,
    environment,
    tenant,
    due: Number(due),
    covered: Number(covered),
    tables: Number(tables),
  }));
}

/** The parameters of {@link COUNT_LOADS}. */
export const loadValues = ({ horizon, scope, share, confirmed }: LoadQuery): unknown[] => [
  horizon,
  scope.tenant,
  scope.exceptTenants,
  [...confirmed.keys()],
  [...confirmed.values()],
  fewestTooMuch(share),
  share,
  LEAST_TABLES,
];

/** The statement of {@link countLoads}. */
export const COUNT_LOADS = `
  with environment as (
    select e.environment_id, e.name, e.tenant, c.until,
      make_interval(secs => e.retention_days::bigint * b.day_seconds) as period,
      greatest(e.retention_set_at, b.signal_floor_at) as counts_from
    from environment_state e
    cross join (select day_seconds, signal_floor_at from evaluation_basis limit 1) b
    left join unnest($4::uuid[], $5::timestamptz[]) as c (environment_id, until)
      on c.environment_id = e.environment_id
    where not e.protected and not e.deleted
      and ($2::text is null or e.tenant = $2) and e.tenant <> all($3::text[])
  ), candidate as materialized (
    select e.* from environment e
    where e.until is not null or $6::bigint <= (
      select count(*) from (
        (
          select from table_state t
          where t.environment_id = e.environment_id and t.expires_by = 'table' and t.own_due_at is not null
            and t.own_due_at <= $1
          order by t.own_due_at, t.table_id
          limit $6
        )
        union all
        (
          select from table_state t
          where t.environment_id = e.environment_id and t.expires_by = 'environment'
            and t.last_activity_at <= $1 - e.period and e.counts_from + e.period <= $1
          order by t.last_activity_at, t.table_id
          limit $6
        )
      ) some_due
    )
  ), counted as (
    select c.environment_id, c.name, c.tenant, own.due + inherited.due as due,
      own.covered + inherited.covered as covered
    from candidate c
    cross join lateral (
      select count(*) filter (where t.own_due_at > coalesce(c.until, '-infinity')) as due,
        count(*) filter (where t.own_due_at <= c.until) as covered
      from table_state t
      where t.environment_id = c.environment_id and t.expires_by = 'table' and t.own_due_at is not null
        and t.own_due_at <= $1
    ) own
    cross join lateral (
      select
        count(*) filter (
          where greatest(t.last_activity_at, c.counts_from) + c.period > coalesce(c.until, '-infinity')) as due,
        count(*) filter (where greatest(t.last_activity_at, c.counts_from) + c.period <= c.until) as covered
      from table_state t
      where t.environment_id = c.environment_id and t.expires_by = 'environment'
        and t.last_activity_at <= $1 - c.period and c.counts_from + c.period <= $1
    ) inherited
  )
  select c.environment_id, c.name as environment, c.tenant, c.due, c.covered,
    (
      select count(*) from (
        select from table_state t
        where t.environment_id = c.environment_id and t.state = 'live' and t.kind = 'managed'
        limit greatest($8::bigint, ceil(c.due / $7::float8)::bigint) + 1
      ) live
    ) as tables
  from counted c
  order by c.environment_id`;
