import type { Queryable } from "@lapse/kit";
import type { ActivityTally, TableActivity } from "../domain/activity.ts";
import { textArray, timestampArray, uuidArray } from "./array-parameters.ts";
import type { Basis } from "./basis.ts";
import { countReads } from "./read-days.ts";

/** Rows per statement: none takes long, whatever the batch. */
const AT_ONCE = 50_000;

/**
 * Merges a batch of activity into the tables and their reads per day. Times only move forward, so a batch may
 * come late or twice; only the reads per day count every call. A table not known yet is kept as `unknown`.
 */
export async function saveActivity(
  tx: Queryable,
  activities: ActivityTally,
  basis: Basis,
): Promise<void> {
  if (activities.size === 0) {
    return;
  }
  // Nothing of one batch is like the next: a plan for these very values is worth its while.
  await tx.query(
    `select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '64MB', true)`,
  );
  const reads = [...activities].flatMap(([tableId, activity]) =>
    activity.reads.map((count) => ({ tableId, count })),
  );
  const moved = new Set<string>();
  for (const some of inParts(reads)) {
    for (const tableId of await countReads(tx, some)) {
      moved.add(tableId);
    }
  }
  const told = [...activities].flatMap(([tableId, activity]) =>
    moved.has(tableId) || activity.lastActivityKind !== "read" || activity.reads.length === 0
      ? { tableId, ...activity }
      : [],
  );
  // By key, or two writers that meet on the same rows in another order deadlock.
  told.sort((a, b) => (a.tableId < b.tableId ? -1 : 1));
  for (const some of inParts(told)) {
    await saveLastActivity(tx, some, basis);
  }
}

function* inParts<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    yield all.slice(from, from + AT_ONCE);
  }
}

async function saveLastActivity(
  tx: Queryable,
  tables: readonly (TableActivity & { readonly tableId: string })[],
  { daySeconds, signalFloorAt }: Basis,
): Promise<void> {
  await tx.query({
    name: "save-last-activity",
    text: `
      insert into table_state as t (
        table_id, last_read_at, last_activity_at, last_activity_kind, folded_at)
      select a.*, now()
      from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::text[]) as a
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
      uuidArray(tables.map(({ tableId }) => tableId)),
      timestampArray(tables.map(({ lastReadAt }) => lastReadAt)),
      timestampArray(tables.map(({ lastActivityAt }) => lastActivityAt)),
      textArray(tables.map(({ lastActivityKind }) => lastActivityKind)),
      signalFloorAt,
      daySeconds,
    ],
  });
}
