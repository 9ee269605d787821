import type { Queryable } from "@lapse/kit";
import {
  type EnvironmentRuleChange,
  type EnvironmentSnapshot,
  newestByKey,
} from "../domain/changes.ts";

/** Puts the newest of what the catalog says about each environment in place of what was known. */
export async function saveEnvironmentSnapshots(
  tx: Queryable,
  snapshots: readonly EnvironmentSnapshot[],
): Promise<void> {
  const newest = newestByKey(snapshots, ({ environmentId }) => environmentId);
  if (newest.length === 0) {
    return;
  }
  await tx.query({
    name: "save-environment-snapshots",
    text: `
      insert into environment_state as e (
        environment_id, tenant, name, protected, deleted, change_version)
      select * from unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[], $5::boolean[], $6::bigint[])
      on conflict (environment_id) do update set
        tenant = excluded.tenant, name = excluded.name, protected = excluded.protected,
        deleted = excluded.deleted, change_version = excluded.change_version
      where excluded.change_version > e.change_version`,
    values: [
      newest.map(({ environmentId }) => environmentId),
      newest.map(({ tenant }) => tenant),
      newest.map(({ name }) => name),
      newest.map((environment) => environment.protected),
      newest.map(({ deleted }) => deleted),
      newest.map(({ version }) => version),
    ],
  });
}

/**
 * Puts the newest rule of each environment in place of the one held: one row, however many tables it has
 * (T8).
 */
export async function saveEnvironmentRules(
  tx: Queryable,
  changes: readonly EnvironmentRuleChange[],
): Promise<void> {
  const newest = newestByKey(changes, ({ environmentId }) => environmentId);
  if (newest.length === 0) {
    return;
  }
  await tx.query({
    name: "save-environment-rules",
    text: `
      insert into environment_state as e (
        environment_id, retention_days, retention_set_by, retention_set_at, policy_version)
      select * from unnest($1::uuid[], $2::integer[], $3::text[], $4::timestamptz[], $5::bigint[])
      on conflict (environment_id) do update set
        retention_days = excluded.retention_days, retention_set_by = excluded.retention_set_by,
        retention_set_at = excluded.retention_set_at, policy_version = excluded.policy_version
      where excluded.policy_version > e.policy_version`,
    values: [
      newest.map(({ environmentId }) => environmentId),
      newest.map(({ rule }) => rule?.days ?? null),
      newest.map(({ rule }) => rule?.setBy ?? null),
      newest.map(({ rule }) => rule?.setAt ?? null),
      newest.map(({ version }) => version),
    ],
  });
}

/** An environment as a caller may ask for it. */
export interface KnownEnvironment {
  readonly environmentId: string;
  readonly tenant: string;
  readonly name: string;
  /** Length of a retention day, there as everywhere. */
  readonly daySeconds: number;
}

/** The environment; undefined: the catalog has not spoken of it, or it is deleted. */
export async function findEnvironment(
  db: Queryable,
  environmentId: string,
): Promise<KnownEnvironment | undefined> {
  const { rows } = await db.query<{ tenant: string; name: string; day_seconds: number }>(
    `select tenant, name, day_seconds from environment_state cross join evaluation_basis
     where environment_id = $1 and change_version > 0 and not deleted`,
    [environmentId],
  );
  const [row] = rows;
  return row && { environmentId, tenant: row.tenant, name: row.name, daySeconds: row.day_seconds };
}

/** The organisations that have environments. */
export async function listTenants(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ tenant: string }>(
    `select distinct tenant from environment_state where change_version > 0 and not deleted order by tenant`,
  );
  return rows.map(({ tenant }) => tenant);
}
