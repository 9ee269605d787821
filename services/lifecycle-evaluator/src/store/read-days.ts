import type { Queryable } from "@lapse/kit";
import type { ReadCount } from "../domain/activity.ts";
import {
  bigintArray,
  dateArray,
  textArray,
  timestampArray,
  uuidArray,
} from "./array-parameters.ts";

/**
 * How far `table_state` may lag behind the last read of a table. So much matters to nobody who looks for tables
 * that are due, and what is known of a table is completed by `last_read_of` (see the migration).
 */
export const MERGE_AFTER_MS = 60_000;

/** The reads of a table on one day by one system. */
export interface ReadsOfTable {
  readonly tableId: string;
  readonly count: ReadCount;
}

/**
 * Counts reads, at most once per table, day and source, and gives the tables whose `table_state` has to be told
 * of their last read now (T17). Only the fold of activity writes here, so nobody comes in between.
 */
export async function countReads(
  tx: Queryable,
  reads: readonly ReadsOfTable[],
): Promise<readonly string[]> {
  const days = reads.map(({ count }) => count.day).sort();
  const values = [
    uuidArray(reads.map(({ tableId }) => tableId)),
    dateArray(reads.map(({ count }) => count.day)),
    textArray(reads.map(({ count }) => count.source)),
    bigintArray(reads.map(({ count }) => count.reads)),
    timestampArray(reads.map(({ count }) => count.lastAt)),
  ];
  const { rows } = await tx.query<{ counted: number; moved: string[] | null }>({
    name: "count-reads",
    // The range of days says how little of the history there is to look at.
    text: `
      with counted as (
        update table_read_day d set
          reads = d.reads + g.reads,
          last_read_at = greatest(d.last_read_at, g.last_read_at),
          merged_at = case when d.merged_at <= g.merge_before then g.last_read_at else d.merged_at end
        from unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
          as g (table_id, day, source, reads, last_read_at, merge_before)
        where d.table_id = g.table_id and d.day = g.day and d.source = g.source
          and d.day between $7::date and $8::date
        returning d.table_id, d.merged_at = g.last_read_at as moved
      )
      select count(*)::integer as counted, array_agg(table_id) filter (where moved) as moved from counted`,
    values: [
      ...values,
      timestampArray(reads.map(({ tableId, count }) => count.lastAt - mergeAfter(tableId))),
      days[0],
      days.at(-1),
    ],
  });
  const [{ counted, moved } = { counted: 0, moved: null }] = rows;
  const first = counted === reads.length ? [] : await countFirstReads(tx, values);
  return [...(moved ?? []), ...first];
}

/** The first reads of a table on a day by a system; the tables. */
async function countFirstReads(
  tx: Queryable,
  values: readonly unknown[],
): Promise<readonly string[]> {
  const { rows } = await tx.query<{ table_id: string }>({
    name: "count-first-reads",
    text: `
      insert into table_read_day (table_id, day, source, reads, last_read_at, merged_at)
      select g.*, g.last_read_at
      from unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[], $5::timestamptz[])
        as g (table_id, day, source, reads, last_read_at)
      where not exists (
        select from table_read_day d
        where d.table_id = g.table_id and d.day = g.day and d.source = g.source)
      returning table_id`,
    values: [...values],
  });
  return rows.map(({ table_id }) => table_id);
}

/** At most MERGE_AFTER_MS; not the same for all, so that they do not all come in the same second. */
function mergeAfter(tableId: string): number {
  return MERGE_AFTER_MS / 2 + (Number.parseInt(tableId.slice(-4), 16) % (MERGE_AFTER_MS / 2));
}
