import type { Queryable } from "@lapse/kit";
import type { Environment } from "../domain/environment.ts";
import { ENVIRONMENT_COLUMNS, type EnvironmentRow, toEnvironment } from "./environment-row.ts";
import type { Subject } from "./given.ts";
import { exactlyOne } from "./rows.ts";

/** An environment by id, or by its name in a tenant. */
export type EnvironmentKey =
  | { readonly environmentId: string }
  | { readonly tenant: string; readonly name: string };

/** How the row is locked for the rest of the transaction. */
export type RowLock = "none" | "share" | "update";

const LOCKS: Readonly<Record<RowLock, string>> = {
  none: "",
  share: "for share of e",
  update: "for update of e",
};

/** The environment, or undefined, also where it is deleted. */
export async function findEnvironment(
  db: Queryable,
  key: EnvironmentKey,
  lock: RowLock = "none",
): Promise<Environment | undefined> {
  const [where, values] =
    "environmentId" in key
      ? ["e.environment_id = $1", [key.environmentId]]
      : ["e.tenant = $1 and e.name = $2", [key.tenant, key.name]];
  const { rows } = await db.query<EnvironmentRow>(
    `select ${ENVIRONMENT_COLUMNS} from environment e
     where ${where} and e.deleted_at is null ${LOCKS[lock]}`,
    values,
  );
  return rows[0] && toEnvironment(rows[0]);
}

/** These environments by id, kept from changing for the rest of the transaction. */
export async function lockedEnvironments(
  tx: Queryable,
  environmentIds: readonly string[],
): Promise<ReadonlyMap<string, Environment>> {
  const { rows } = await tx.query<EnvironmentRow>(
    `select ${ENVIRONMENT_COLUMNS} from environment e where e.environment_id = any($1)
     order by e.environment_id for share of e`,
    [environmentIds],
  );
  return new Map(rows.map((row) => [row.e_environment_id, toEnvironment(row)]));
}

/** Stores a new environment; false when its tenant has one of that name, or its bucket is or was another tenant's. */
export async function insertEnvironment(tx: Queryable, environment: Environment): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into environment (environment_id, tenant, name, protected, change_version, policy_version,
       table_bucket, created_by, created_at)
     select $1::uuid, $2::text, $3::text, $4::boolean, $5::bigint, $6::bigint, $7::text, $8::text, $9::timestamptz
     where not exists (select from environment other where other.table_bucket = $7 and other.tenant <> $2)
     on conflict do nothing`,
    [
      environment.environmentId,
      environment.tenant,
      environment.name,
      environment.protected,
      environment.changeVersion,
      environment.policyVersion,
      environment.tableBucket,
      environment.createdBy,
      environment.createdAt,
    ],
  );
  return rowCount === 1;
}

/** Writes what can change of an environment whose row this transaction has locked for update. */
export async function saveEnvironment(tx: Queryable, environment: Environment): Promise<void> {
  const { rows } = await tx.query(
    `update environment set protected = $2, change_version = $3, policy_version = $4
     where environment_id = $1 and change_version = $3 - 1 returning environment_id`,
    [
      environment.environmentId,
      environment.protected,
      environment.changeVersion,
      environment.policyVersion,
    ],
  );
  exactlyOne(rows, `saving environment ${environment.environmentId}`);
}

/** Deletes an environment whose row this transaction has locked for update. The row stays, for those that name it. */
export async function saveDeletedEnvironment(
  tx: Queryable,
  { environmentId, changeVersion }: Environment,
  { actor, now }: { actor: string; now: Date },
): Promise<void> {
  const { rows } = await tx.query(
    `update environment set change_version = $2, deleted_at = $3, deleted_by = $4
     where environment_id = $1 and change_version = $2 - 1 and deleted_at is null returning environment_id`,
    [environmentId, changeVersion, now, actor],
  );
  exactlyOne(rows, `deleting environment ${environmentId}`);
}

/** The tenants that have, or had, environments. */
export async function tenantsWithEnvironments(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ tenant: string }>(
    "select distinct tenant from environment order by tenant",
  );
  return rows.map((row) => row.tenant);
}

/** Where a page of environments begins: after this one. */
export interface EnvironmentCursor {
  readonly tenant: string;
  readonly name: string;
}

/** Environments of a tenant, or of all of them, by tenant and name. */
export async function listEnvironments(
  db: Queryable,
  page: { tenant: string | undefined; after: EnvironmentCursor | undefined; limit: number },
): Promise<Environment[]> {
  const { rows } = await db.query<EnvironmentRow>(
    `select ${ENVIRONMENT_COLUMNS} from environment e
     where e.deleted_at is null and ($1::text is null or e.tenant = $1)
       and ($2::text is null or (e.tenant, e.name) > ($2, $3))
     order by e.tenant, e.name limit $4`,
    [page.tenant ?? null, page.after?.tenant ?? null, page.after?.name ?? null, page.limit],
  );
  return rows.map(toEnvironment);
}

/**
 * Those of the subject's tenant that something shows to it: a role in them, a table there that it owns, or one that a
 * grant opens.
 */
export async function listOpenEnvironments(
  db: Queryable,
  page: { after: EnvironmentCursor | undefined; limit: number },
  { tenant, subject }: Subject,
): Promise<Environment[]> {
  const { rows } = await db.query<EnvironmentRow>(
    `select ${ENVIRONMENT_COLUMNS} from environment e
     where e.deleted_at is null and e.tenant = $1 and ($3::text is null or e.name > $3) and (
       exists (select from role_binding b
         where b.tenant = $1 and b.subject = $2 and b.environment_id = e.environment_id)
       or exists (select from catalog_table t
         where t.environment_id = e.environment_id and t.owner = $2 and t.state = 'live')
       or exists (select from catalog_table t
         where t.environment_id = e.environment_id and t.owner = $2 and t.state in ('dropped', 'purging'))
       or exists (select from table_grant g join catalog_table t using (table_id)
         where g.tenant = $1 and g.subject = $2 and g.environment_id = e.environment_id
           and t.state in ('staged', 'live')))
     order by e.name limit $4`,
    [tenant, subject, page.after?.name ?? null, page.limit],
  );
  return rows.map(toEnvironment);
}
