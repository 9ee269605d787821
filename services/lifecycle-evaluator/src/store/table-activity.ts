import type { Queryable } from "@lapse/kit";
import type { ActivityTally, TableActivity } from "../domain/activity.ts";
import type { Basis } from "./basis.ts";

/** Tables per statement: none takes long, whatever the batch. */
const AT_ONCE = 20_000;

/**
 * Merges a batch of activity into the tables. Times only move forward, so a batch may come late or twice. A
 * table not known yet is kept as `unknown`.
 */
export async function saveActivity(
  tx: Queryable,
  activities: ActivityTally,
  basis: Basis,
): Promise<void> {
  // By key, or two writers that meet on the same rows in another order deadlock.
  const byTable = [...activities.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  for (let from = 0; from < byTable.length; from += AT_ONCE) {
    await saveSome(tx, byTable.slice(from, from + AT_ONCE), basis);
  }
}

async function saveSome(
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
