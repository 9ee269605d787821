import type { Queryable } from "@lapse/kit";

const TIMES: Readonly<Record<string, readonly string[]>> = {
  catalog_table: [
    "created_at",
    "last_changed_at",
    "restored_at",
    "dropped_at",
    "undo_until",
    "purged_at",
  ],
  data_file: ["removed_at"],
  write_hold: ["created_at", "expires_at"],
  due_answer: ["answered_at"],
  role_binding: ["granted_at"],
  table_grant: ["granted_at"],
  row_filter: ["set_at"],
  column_mask: ["set_at"],
  api_key: ["created_at", "expires_at", "revoked_at", "last_used_at", "refused_at"],
  table_purge: ["not_before", "claimed_until"],
};

/** Moves every stored time of the catalog into the past by `ms`, so that a test need not wait. */
export async function shiftTime(db: Queryable, ms: number): Promise<void> {
  for (const [table, columns] of Object.entries(TIMES)) {
    const sets = columns.map(
      (column) => `${column} = ${column} - make_interval(secs => $1 / 1000.0)`,
    );
    await db.query(`update ${table} set ${sets.join(", ")}`, [ms]);
  }
}
