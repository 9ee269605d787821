import type { Environment } from "../domain/environment.ts";

/** The columns of `environment e`, under names that no column of a joined table has. */
export const ENVIRONMENT_COLUMNS = `
  e.environment_id as e_environment_id, e.tenant as e_tenant, e.name as e_name, e.protected as e_protected,
  e.change_version as e_change_version, e.policy_version as e_policy_version,
  e.table_bucket as e_table_bucket, e.created_by as e_created_by, e.created_at as e_created_at`;

/** A row of {@link ENVIRONMENT_COLUMNS}. */
export interface EnvironmentRow {
  readonly e_environment_id: string;
  readonly e_tenant: string;
  readonly e_name: string;
  readonly e_protected: boolean;
  readonly e_change_version: bigint;
  readonly e_policy_version: bigint;
  readonly e_table_bucket: string;
  readonly e_created_by: string;
  readonly e_created_at: Date;
}

export const toEnvironment = (row: EnvironmentRow): Environment => ({
  environmentId: row.e_environment_id,
  tenant: row.e_tenant,
  name: row.e_name,
  protected: row.e_protected,
  changeVersion: row.e_change_version,
  policyVersion: row.e_policy_version,
  tableBucket: row.e_table_bucket,
  createdBy: row.e_created_by,
  createdAt: row.e_created_at,
});
