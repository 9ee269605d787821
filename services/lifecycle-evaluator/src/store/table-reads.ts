import type { Queryable } from "@lapse/kit";

/** Reads of a table on one day by one system. */
export interface DailyReads {
  /** YYYY-MM-DD, UTC. */
  readonly day: string;
  readonly source: string;
  readonly reads: bigint;
}

/** A system that has reported reads of a table. */
export interface ReadSource {
  readonly source: string;
  readonly lastReportedAt: Date;
}

/** Reads per day, the newest first, at most `limit` (T17). */
export async function listDailyReads(
  db: Queryable,
  tableId: string,
  limit: number,
): Promise<readonly DailyReads[]> {
  const { rows } = await db.query<{ day: string; source: string; reads: bigint }>(
    `select day, source, reads from table_read_day where table_id = $1 order by day desc, source limit $2`,
    [tableId, limit],
  );
  return rows;
}

/** Which systems have reported reads, and when last, the latest first, at most `limit` (T18). */
export async function listReadSources(
  db: Queryable,
  tableId: string,
  limit: number,
): Promise<readonly ReadSource[]> {
  const { rows } = await db.query<{ source: string; last_reported_at: Date }>(
    `select source, max(at) as last_reported_at from (
       select source, last_read_at as at from table_read_day where table_id = $1
       union all
       select source, last_reported_at from table_read_source where table_id = $1) x
     group by source order by last_reported_at desc, source limit $2`,
    [tableId, limit],
  );
  return rows.map(({ source, last_reported_at }) => ({ source, lastReportedAt: last_reported_at }));
}

/**
 * Deletes the reads, at most `limit` rows, of days before `day`; how many rows (T17). The last read of each
 * table stays, and which systems have reported any (T18).
 */
export async function deleteReadsBefore(
  db: Queryable,
  { day, limit }: { readonly day: string; readonly limit: number },
): Promise<number> {
  const { rows } = await db.query<{ deleted: number }>(
    `with deleted as (
       delete from table_read_day where ctid = any(array(
         select ctid from table_read_day where day < $1 order by day limit $2))
       returning table_id, source, last_read_at
     ), told as (
       update table_state t set
         last_read_at = greatest(t.last_read_at, d.at), last_activity_at = d.at, last_activity_kind = 'read'
       from (select table_id, max(last_read_at) as at from deleted group by table_id) d
       where t.table_id = d.table_id and d.at > t.last_activity_at
     ), kept as (
       insert into table_read_source as s (table_id, source, last_reported_at)
       select table_id, source, max(last_read_at) from deleted group by table_id, source
       order by table_id, source
       on conflict (table_id, source) do update set last_reported_at = excluded.last_reported_at
       where s.last_reported_at < excluded.last_reported_at
     )
     select count(*)::integer as deleted from deleted`,
    [day, limit],
  );
  return rows[0]?.deleted ?? 0;
}
