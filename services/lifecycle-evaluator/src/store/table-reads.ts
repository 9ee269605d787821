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
    `select source, last_reported_at from table_read_source where table_id = $1
     order by last_reported_at desc, source limit $2`,
    [tableId, limit],
  );
  return rows.map(({ source, last_reported_at }) => ({ source, lastReportedAt: last_reported_at }));
}

/**
 * Deletes the reads, at most `limit` rows, of days before `day`; how many rows (T17). The last read of each
 * table stays.
 */
export async function deleteReadsBefore(
  db: Queryable,
  { day, limit }: { readonly day: string; readonly limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from table_read_day where ctid = any(array(
       select ctid from table_read_day where day < $1 order by day limit $2))`,
    [day, limit],
  );
  return rowCount ?? 0;
}
