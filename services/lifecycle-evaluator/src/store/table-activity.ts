import type { Queryable } from "@lapse/kit";
import type { ActivityTally, ReadCount, TableActivity } from "../domain/activity.ts";
import type { Basis } from "./basis.ts";

/**
 * Merges a batch of activity into the tables, their reads per day and their sources. Times only move
 * forward, so a batch may come late or twice; only the reads per day count every call. A table not known
 * yet is kept as `unknown`.
 */
export async function saveActivity(
  tx: Queryable,
  activities: ActivityTally,
  basis: Basis,
): Promise<void> {
  if (activities.size === 0) {
    return;
  }
  // By key, or two writers that meet on the same rows in another order deadlock.
  const byTable = [...activities.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  await saveLastActivity(tx, byTable, basis);
  const reads = byTable.flatMap(([tableId, { reads }]) =>
    reads.map((count) => ({ tableId, ...count })),
  );
  if (reads.length > 0) {
    await saveReadDays(tx, reads);
    await saveReadSources(tx, reads);
  }
}

async function saveLastActivity(
  tx: Queryable,
  byTable: readonly (readonly [string, TableActivity])[],
  { daySeconds, signalFloorAt }: Basis,
): Promise<void> {
  await tx.query({
    name: "save-last-activity",
    text: `
      insert into table_state as t (
        table_id, last_read_at, last_activity_at, last_activity_kind, folded_at)
      select a.table_id, to_timestamp(a.read_ms / 1000.0), to_timestamp(a.activity_ms / 1000.0), a.kind, now()
      from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[]) as a (table_id, read_ms, activity_ms, kind)
      on conflict (table_id) do update set
        last_read_at = greatest(t.last_read_at, excluded.last_read_at),
        last_activity_at = greatest(t.last_activity_at, excluded.last_activity_at),
        last_activity_kind = case
          when (excluded.last_activity_at, excluded.last_activity_kind) <= (t.last_activity_at, t.last_activity_kind)
          then t.last_activity_kind
          else excluded.last_activity_kind
        end,
        own_due_at = own_due_at(
          t.rule_kind, t.rule_days, t.rule_on, greatest(t.last_activity_at, excluded.last_activity_at),
          $5::timestamptz, $6::integer),
        folded_at = excluded.folded_at
      where t.last_activity_at is null
        or (excluded.last_activity_at, excluded.last_activity_kind) > (t.last_activity_at, t.last_activity_kind)
        or excluded.last_read_at > coalesce(t.last_read_at, '-infinity')`,
    values: [
      byTable.map(([tableId]) => tableId),
      byTable.map(([, { lastReadAt }]) => lastReadAt),
      byTable.map(([, { lastActivityAt }]) => lastActivityAt),
      byTable.map(([, { lastActivityKind }]) => lastActivityKind),
      signalFloorAt,
      daySeconds,
    ],
  });
}

type TableReads = ReadCount & { readonly tableId: string };

async function saveReadDays(tx: Queryable, reads: readonly TableReads[]): Promise<void> {
  await tx.query({
    name: "save-read-days",
    text: `
      insert into table_read_day as d (table_id, day, source, reads)
      select * from unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[])
      on conflict (table_id, day, source) do update set reads = d.reads + excluded.reads`,
    values: [
      reads.map(({ tableId }) => tableId),
      reads.map(({ day }) => day),
      reads.map(({ source }) => source),
      reads.map(({ reads }) => reads),
    ],
  });
}

async function saveReadSources(tx: Queryable, reads: readonly TableReads[]): Promise<void> {
  const newest = new Map<string, TableReads>();
  for (const count of reads) {
    const key = `${count.tableId} ${count.source}`;
    const known = newest.get(key);
    if (known === undefined || count.lastAt > known.lastAt) {
      newest.set(key, count);
    }
  }
  const sources = [...newest.values()];
  await tx.query({
    name: "save-read-sources",
    text: `
      insert into table_read_source as s (table_id, source, last_reported_at)
      select r.table_id, r.source, to_timestamp(r.last_ms / 1000.0)
      from unnest($1::uuid[], $2::text[], $3::bigint[]) as r (table_id, source, last_ms)
      on conflict (table_id, source) do update set last_reported_at = excluded.last_reported_at
      where s.last_reported_at < excluded.last_reported_at`,
    values: [
      sources.map(({ tableId }) => tableId),
      sources.map(({ source }) => source),
      sources.map(({ lastAt }) => lastAt),
    ],
  });
}
