import type { Queryable } from "@lapse/kit";
import type { EnvironmentSetting } from "../domain/environment-setting.ts";
import type { Versioned } from "../domain/version.ts";

/** Whose retention a row is. */
export interface EnvironmentKey {
  readonly environmentId: string;
  readonly tenant: string;
}

/** An environment's setting as stored; `rule` is null where nobody has ever made one. */
export interface StoredEnvironmentRetention extends EnvironmentKey, Versioned<EnvironmentSetting> {}

interface Row {
  environment_id: string;
  tenant: string;
  days: number | null;
  set_by: string | null;
  set_at: Date | null;
  policy_version: bigint;
}

const COLUMNS = "environment_id, tenant, days, set_by, set_at, policy_version";

/** What is stored for the environment; null: nothing ever was, or it has been forgotten. */
export async function findEnvironmentRetention(
  db: Queryable,
  environmentId: string,
): Promise<StoredEnvironmentRetention | null> {
  const [found] = await findEnvironmentRetentions(db, [environmentId]);
  return found ?? null;
}

/** What is stored for each of the environments; those with nothing are left out. */
export async function findEnvironmentRetentions(
  db: Queryable,
  environmentIds: readonly string[],
): Promise<StoredEnvironmentRetention[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from environment_retention where environment_id = any($1::uuid[])`,
    [environmentIds],
  );
  return rows.map(fromRow);
}

/** Like {@link findEnvironmentRetention}; what is stored stays as it is until the transaction ends. */
export async function shareEnvironmentRetention(
  tx: Queryable,
  environmentId: string,
): Promise<StoredEnvironmentRetention | null> {
  const { rows } = await tx.query<Row>(
    `select ${COLUMNS} from environment_retention where environment_id = $1 for share`,
    [environmentId],
  );
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

/** Locks what is stored for the environment until the transaction ends. Where nothing is: none, at version 0. */
export async function lockEnvironmentRetention(
  tx: Queryable,
  key: EnvironmentKey,
): Promise<StoredEnvironmentRetention> {
  // The row comes first, so that there is one to lock: two first changes wait for each other.
  await tx.query(
    `insert into environment_retention (environment_id, tenant, policy_version)
     values ($1, $2, 0)
     on conflict (environment_id) do nothing`,
    [key.environmentId, key.tenant],
  );
  const { rows } = await tx.query<Row>(
    `select ${COLUMNS} from environment_retention where environment_id = $1 for update`,
    [key.environmentId],
  );
  const [row] = rows;
  if (row === undefined) {
    // Forgotten between the two statements; the next attempt inserts it again.
    return lockEnvironmentRetention(tx, key);
  }
  return fromRow(row);
}

/** Stores a setting (or none) and its version over the row that {@link lockEnvironmentRetention} locked. */
export async function storeEnvironmentRetention(
  tx: Queryable,
  environmentId: string,
  { rule, version }: Versioned<EnvironmentSetting>,
): Promise<void> {
  await tx.query(
    `update environment_retention
     set days = $2, set_by = $3, set_at = $4, policy_version = $5
     where environment_id = $1`,
    [environmentId, rule?.days ?? null, rule?.setBy ?? null, rule?.setAt ?? null, version],
  );
}

/** Forgets the environment; returns what was stored, null where nothing was. */
export async function deleteEnvironmentRetention(
  tx: Queryable,
  environmentId: string,
): Promise<StoredEnvironmentRetention | null> {
  const { rows } = await tx.query<Row>(
    `delete from environment_retention where environment_id = $1 returning ${COLUMNS}`,
    [environmentId],
  );
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

function fromRow(row: Row): StoredEnvironmentRetention {
  const { days, set_by: setBy, set_at: setAt } = row;
  return {
    environmentId: row.environment_id,
    tenant: row.tenant,
    rule: setBy === null || setAt === null ? null : { days, setBy, setAt },
    version: row.policy_version,
  };
}
