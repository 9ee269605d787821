import type { Queryable } from "@lapse/kit";

/** Deletes what an environment has besides tables: its roles, deployments and namespaces. Versions of projects stay. */
export async function deleteEnvironmentContents(
  tx: Queryable,
  environmentId: string,
): Promise<void> {
  for (const table of ["role_binding", "project_deployment", "namespace"]) {
    await tx.query(`delete from ${table} where environment_id = $1`, [environmentId]);
  }
}
