import type { Queryable } from "@lapse/kit";
import { advance, type DueCursor, type DuePlace, type DueSource } from "../domain/due-order.ts";
import { dueRetention } from "../domain/due-retention.ts";
import type { TableFacts } from "../domain/table-facts.ts";
import { FACTS, type FactsRow, toTableFacts } from "./table-facts.ts";

/** Which tables are wanted. */
export interface DueQuery {
  /** Tables whose expiry is at or before this instant. */
  readonly horizon: Date;
  readonly limit: number;
  /** Those after it only. */
  readonly cursor: DueCursor;
  /** Of this environment only. */
  readonly environmentId?: string;
  /** Of these tenants and environments only; of all, unless given. */
  readonly scope?: DueScope;
  /** Of these tables only; of all, unless given. */
  readonly readable?: ReadableTables;
}

/** What of the tables that are due is left out. */
export interface DueScope {
  /** Null: every tenant. */
  readonly tenant: string | null;
  readonly exceptTenants: readonly string[];
  /** By environment: only what expires at or before this instant; null: nothing. */
  readonly limits: ReadonlyMap<string, Date | null>;
}

/** The tables that somebody may read who may not read all. */
export interface ReadableTables {
  /** Reads its own. */
  readonly owner: string;
  readonly granted: readonly string[];
}

/** A table that the indexes say is due, where it stands in them, and all that is known of it. */
export interface DueTable {
  readonly place: DuePlace;
  readonly facts: TableFacts;
}

const READABLE = "and (t.owner = $13 or t.table_id = any($14::uuid[]))";

/**
 * For each environment that is not protected, the first tables due by their own rule and the first due by
 * the environment's: two probes of an index, of the same size whether it has ten tables or ten million. An
 * environment's rule counts from when it was set at the earliest (T8), and from the floor of the signal.
 * Where a probe gave all it was asked for ($8), its source may go on: nothing after the last table of the
 * first such source is taken yet.
 */
const dueTables = (readable = ""): string => `
  with passed as (
    select * from unnest($3::uuid[], $4::text[], $5::timestamptz[], $6::uuid[])
      as p (environment_id, source, at, table_id)
  ), environment as (
    select e.environment_id, least($1, l.until) as horizon,
      make_interval(secs => e.retention_days::bigint * b.day_seconds) as period,
      greatest(e.retention_set_at, b.signal_floor_at) as counts_from
    from environment_state e
    cross join (select day_seconds, signal_floor_at from evaluation_basis limit 1) b
    left join unnest($9::uuid[], $10::timestamptz[]) as l (environment_id, until)
      on l.environment_id = e.environment_id
    where not e.protected and not e.deleted and ($7::uuid is null or e.environment_id = $7)
      and ($11::text is null or e.tenant = $11) and e.tenant <> all($12::text[])
  ), probed as (
    (
      select e.environment_id, 'table' as source, d.own_due_at as at, d.table_id, d.own_due_at as expires_at, d.nth
      from environment e
      left join passed p on p.environment_id = e.environment_id and p.source = 'table'
      cross join lateral (
        select h.*, row_number() over () as nth from (
          select t.own_due_at, t.table_id from table_state t
          where t.environment_id = e.environment_id and t.expires_by = 'table' and t.own_due_at is not null
            and t.own_due_at <= e.horizon ${readable}
            and (t.own_due_at, t.table_id) > (
              coalesce(p.at, '-infinity'), coalesce(p.table_id, '00000000-0000-0000-0000-000000000000'))
          order by t.own_due_at, t.table_id
          limit $8
        ) h
      ) d
    )
    union all
    (
      select e.environment_id, 'environment', d.last_activity_at, d.table_id,
        greatest(d.last_activity_at, e.counts_from) + e.period, d.nth
      from environment e
      left join passed p on p.environment_id = e.environment_id and p.source = 'environment'
      cross join lateral (
        select h.*, row_number() over () as nth from (
          select t.last_activity_at, t.table_id from table_state t
          where t.environment_id = e.environment_id and t.expires_by = 'environment'
            and t.last_activity_at <= e.horizon - e.period ${readable}
            and (t.last_activity_at, t.table_id) > (
              coalesce(p.at, '-infinity'), coalesce(p.table_id, '00000000-0000-0000-0000-000000000000'))
          order by t.last_activity_at, t.table_id
          limit $8
        ) h
      ) d
      where e.counts_from + e.period <= e.horizon
    )
  ), cut as (
    select expires_at, environment_id, source, at, table_id from probed where nth = $8
    order by expires_at, environment_id, source, at, table_id
    limit 1
  ), due as (
    select * from probed
    where not exists (select from cut)
      or (expires_at, environment_id, source, at, table_id) <= (
        select expires_at, environment_id, source, at, table_id from cut)
    -- Within a source this is the order of its index, so what is taken is always the head of each.
    order by expires_at, environment_id, source, at, table_id
    limit $2
  )
  select due.source, due.at, exists (select from cut) as more, ${FACTS}
  from due
  join table_state t on t.table_id = due.table_id
  join environment_state e on e.environment_id = due.environment_id
  cross join (select day_seconds, signal_floor_at from evaluation_basis limit 1) b
  order by due.expires_at, due.environment_id, due.source, due.at, due.table_id`;

/** The statement over all tables. */
export const DUE_TABLES = dueTables();
const DUE_READABLE_TABLES = dueTables(READABLE);

/** The parameters of {@link DUE_TABLES}; `depth` is how far each source is read. */
export function dueTablesValues(
  { horizon, limit, cursor, environmentId, scope, readable }: DueQuery,
  depth: number,
): unknown[] {
  const places = [...cursor.values()];
  const limits = [...(scope?.limits ?? [])];
  return [
    horizon,
    limit,
    places.map((place) => place.environmentId),
    places.map(({ source }) => source),
    places.map(({ at }) => at),
    places.map(({ tableId }) => tableId),
    environmentId ?? null,
    depth,
    limits.map(([environment]) => environment),
    limits.map(([, until]) => until ?? "-infinity"),
    scope?.tenant ?? null,
    scope?.exceptTenants ?? [],
    ...(readable === undefined ? [] : [readable.owner, readable.granted]),
  ];
}

/**
 * Enough where the overdue are spread over some environments; where one has most of them, the next step
 * goes deeper.
 */
const FIRST_DEPTH = 16;
const DEEPER = 8;

/**
 * The tables whose expiry has come by `horizon`, the most overdue first (T24, T33); fewer than `limit` only
 * where there are no more. Runs in a transaction.
 */
export async function findDueTables(tx: Queryable, query: DueQuery): Promise<readonly DueTable[]> {
  // The planner cannot know that each probe stops early: it would compile for longer than it reads, on old
  // statistics collect all that is overdue to sort it, where the index has it in order, and plan anew every time.
  await tx.query(`
    select set_config('jit', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('plan_cache_mode', 'force_generic_plan', true)`);
  const found: DueTable[] = [];
  let { cursor } = query;
  for (let depth = FIRST_DEPTH; ; depth *= DEEPER) {
    const limit = query.limit - found.length;
    const { tables, more } = await probe(tx, { ...query, limit, cursor }, Math.min(depth, limit));
    found.push(
      ...tables.filter(({ readSince, facts }) => !readSince || dueRetention(facts, query.horizon)),
    );
    if (!(more || tables.length === limit) || found.length === query.limit) {
      return found;
    }
    cursor = advance(
      cursor,
      tables.map(({ place }) => place),
    );
  }
}

/**
 * The indexes are told of reads up to five minutes late (mergeAfterMs): a table that was read since may not be due
 * after all. Any other that the arithmetic does not call due is a fault, and for the caller to see.
 */
type ProbedTable = DueTable & { readonly readSince: boolean };

type DueRow = FactsRow & { source: DueSource; at: Date; more: boolean };

/** One step; whether there may be more after it. */
async function probe(
  tx: Queryable,
  query: DueQuery,
  depth: number,
): Promise<{ readonly tables: readonly ProbedTable[]; readonly more: boolean }> {
  const { rows } = await tx.query<DueRow>({
    ...(query.readable === undefined
      ? { name: "find-due-tables", text: DUE_TABLES }
      : { name: "find-due-readable-tables", text: DUE_READABLE_TABLES }),
    values: dueTablesValues(query, depth),
  });
  return { tables: rows.map(toDueTable), more: rows[0]?.more ?? false };
}

function toDueTable(row: DueRow): ProbedTable {
  const facts = toTableFacts(row);
  const { environmentId, tableId } = facts;
  if (environmentId === null) {
    throw new Error(`table ${tableId} is due in no environment`);
  }
  return {
    place: { environmentId, source: row.source, at: row.at, tableId },
    facts,
    readSince: facts.lastActivityAt !== row.last_activity_at,
  };
}
