import type { Queryable } from "@lapse/kit";
import type { Environment } from "../domain/environment.ts";
import { ENVIRONMENT_COLUMNS, type EnvironmentRow, toEnvironment } from "./environment-row.ts";
import { exactlyOne } from "./rows.ts";

/** An environment by id, or by its name in a tenant. */
export type EnvironmentKey =
  | { readonly environmentId: string }
  | { readonly tenant: string; readonly name: string };

/** How the row is locked for the rest of the transaction. */
export type RowLock = "none" | "update";

const LOCKS: Readonly<Record<RowLock, string>> = {
  none: "",
  update: "for update of e",
};

/** The environment, or undefined. */
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
    `select ${ENVIRONMENT_COLUMNS} from environment e where ${where} ${LOCKS[lock]}`,
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

/** Stores a new environment; false when its tenant has one of that name, or its bucket is another's. */
export async function insertEnvironment(tx: Queryable, environment: Environment): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into environment (environment_id, tenant, name, protected, change_version, policy_version,
       table_bucket, created_by, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
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
     where ($1::text is null or e.tenant = $1)
       and ($2::text is null or (e.tenant, e.name) > ($2, $3))
     order by e.tenant, e.name limit $4`,
    [page.tenant ?? null, page.after?.tenant ?? null, page.after?.name ?? null, page.limit],
  );
  return rows.map(toEnvironment);
}
