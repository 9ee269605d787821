import type { Queryable } from "@lapse/kit";
import { newestByKey, type TableSnapshot } from "../domain/changes.ts";

/**
 * Puts the newest of what the catalog says about each table in place of what was known; an older version
 * changes nothing. The rows are there already, with their activity: what the catalog says of a table is
 * activity too. A purged table loses its history.
 */
export async function saveTableSnapshots(
  tx: Queryable,
  snapshots: readonly TableSnapshot[],
): Promise<void> {
  const newest = newestByKey(snapshots, ({ tableId }) => tableId);
  if (newest.length === 0) {
    return;
  }
  const column = <K extends keyof TableSnapshot>(key: K): TableSnapshot[K][] =>
    newest.map((snapshot) => snapshot[key]);
  await tx.query({
    name: "save-table-snapshots",
    text: `
      update table_state t set
        tenant = s.tenant, environment_id = s.environment_id, namespace = s.namespace, name = s.name,
        kind = s.kind, state = s.state, owner = s.owner, project_asset = s.project_asset,
        change_version = s.change_version, created_at = s.created_at,
        last_changed_at = s.last_changed_at, restored_at = s.restored_at, folded_at = now(),
        expires_by = expires_by(s.state, s.kind, s.project_asset, t.rule_kind, t.rule_on, s.restored_at)
      from unnest(
        $1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::boolean[], $10::bigint[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[]
      ) as s (
        table_id, tenant, environment_id, namespace, name, kind, state, owner,
        project_asset, change_version, created_at, last_changed_at, restored_at)
      where t.table_id = s.table_id and s.change_version > t.change_version`,
    values: [
      column("tableId"),
      column("tenant"),
      column("environmentId"),
      column("namespace"),
      column("name"),
      column("kind"),
      column("state"),
      column("owner"),
      column("projectAsset"),
      column("version"),
      column("createdAt"),
      column("lastChangedAt"),
      column("restoredAt"),
    ],
  });
  const purged = newest.filter(({ state }) => state === "purged").map(({ tableId }) => tableId);
  if (purged.length > 0) {
    await deleteReadHistory(tx, purged);
  }
}

/** Forgets who read these tables, and when. */
export async function deleteReadHistory(tx: Queryable, tableIds: readonly string[]): Promise<void> {
  await tx.query(`delete from table_read_day where table_id = any($1::uuid[])`, [tableIds]);
  await tx.query(`delete from table_read_source where table_id = any($1::uuid[])`, [tableIds]);
}
