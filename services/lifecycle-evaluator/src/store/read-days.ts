import type { Queryable } from "@lapse/kit";
import type { ReadColumns, ReadTally } from "../domain/read-tally.ts";
import {
  bigintArray,
  dateArray,
  textArray,
  timestampArray,
  uuidArray,
} from "./array-parameters.ts";
import type { Basis } from "./basis.ts";

/**
 * How far `table_state` may lag behind the last read of a table, in parts of a retention day: five minutes. So much
 * matters to nobody who looks for tables that are due, and what is known of one table is completed from here
 * (`last_read_at` in table-facts.ts).
 */
const MERGES_PER_DAY = 288;

/** The same in ms. */
export const mergeAfterMs = ({ daySeconds }: Pick<Basis, "daySeconds">): number =>
  (daySeconds * 1_000) / MERGES_PER_DAY;

/** Rows per statement: none takes long, whatever the batch. */
const AT_ONCE = 100_000;

/** The last read of a table, in ms since the epoch. */
export interface LastRead {
  readonly tableId: string;
  readonly at: number;
}

/**
 * Counts the reads of a batch per table, day and source (T17); the last reads of which `table_state` has to be
 * told now. Only the fold of activity counts reads, so nobody comes in between.
 */
export async function saveReads(
  tx: Queryable,
  reads: ReadTally,
  basis: Basis,
): Promise<readonly LastRead[]> {
  if (reads.size === 0) {
    return [];
  }
  // No batch is like the one before, nor is the history: a plan for these very values is worth its while.
  await tx.query(
    `select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '64MB', true)`,
  );
  const told: LastRead[] = [];
  for (let from = 0; from < reads.size; from += AT_ONCE) {
    const some = reads.columns(from, Math.min(from + AT_ONCE, reads.size));
    for (const last of await saveSomeReads(tx, some, mergeAfterMs(basis))) told.push(last);
  }
  return told;
}

interface CountedRow extends Record<string, unknown> {
  counted: number;
  tables: string[] | null;
  times: number[] | null;
}

async function saveSomeReads(
  tx: Queryable,
  reads: ReadColumns,
  mergeAfter: number,
): Promise<readonly LastRead[]> {
  const values = [
    uuidArray(reads.ids),
    dateArray(reads.days),
    textArray(reads.source, reads.sources),
    bigintArray(reads.reads),
    timestampArray(reads.lastAt),
  ];
  const { rows: again } = await tx.query<CountedRow>({
    name: "count-reads",
    text: COUNT_READS,
    values: [...values, timestampArray(mergeBefore(reads, mergeAfter)), ...dayRange(reads)],
  });
  const [{ counted } = { counted: 0 }] = again;
  if (counted === reads.length) {
    return lastReads(again);
  }
  const { rows: first } = await tx.query<CountedRow>({
    name: "count-first-reads",
    text: COUNT_FIRST_READS,
    values,
  });
  return [...lastReads(again), ...lastReads(first)];
}

const COUNTED = `
  select count(*)::integer as counted, array_agg(table_id) filter (where to_be_told) as tables,
    array_agg((extract(epoch from last_read_at) * 1000)::float8) filter (where to_be_told) as times
  from counted`;

/** The range of days ($7, $8) says how little of the history there is to look at. */
const COUNT_READS = `
  with counted as (
    update table_read_day d set
      reads = d.reads + g.reads,
      last_read_at = greatest(d.last_read_at, g.last_read_at),
      merged_at = case when d.merged_at <= g.merge_before then g.last_read_at else d.merged_at end
    from unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
      as g (table_id, day, source, reads, last_read_at, merge_before)
    where d.table_id = g.table_id and d.day = g.day and d.source = g.source
      and d.day between $7::date and $8::date
    returning d.table_id, g.last_read_at, d.merged_at = g.last_read_at as to_be_told
  ) ${COUNTED}`;

/** The first of a day by a system. */
const COUNT_FIRST_READS = `
  with counted as (
    insert into table_read_day (table_id, day, source, reads, last_read_at, merged_at)
    select g.*, g.last_read_at
    from unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[], $5::timestamptz[])
      as g (table_id, day, source, reads, last_read_at)
    where not exists (
      select from table_read_day d
      where d.table_id = g.table_id and d.day = g.day and d.source = g.source)
    returning table_id, last_read_at, true as to_be_told
  ) ${COUNTED}`;

function lastReads([row]: readonly CountedRow[]): readonly LastRead[] {
  const { tables, times } = row ?? {};
  return (tables ?? []).map((tableId, nth) => ({ tableId, at: times?.[nth] ?? 0 }));
}

/** At most that long before each; not the same for all tables, so that they do not all come at once. */
function mergeBefore({ ids, lastAt }: ReadColumns, mergeAfter: number): Float64Array {
  const half = Math.max(1, Math.floor(mergeAfter / 2));
  return lastAt.map((at, nth) => at - half - (((ids[4 * nth + 3] ?? 0) >>> 0) % half));
}

function dayRange({ days }: ReadColumns): readonly [first: string, last: string] {
  const text = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10);
  return [text(days.reduce((a, b) => Math.min(a, b))), text(days.reduce((a, b) => Math.max(a, b)))];
}
