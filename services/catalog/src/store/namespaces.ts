import type { Queryable } from "@lapse/kit";
import type { Namespace } from "../domain/namespace.ts";

interface NamespaceRow {
  readonly environment_id: string;
  readonly path: string;
  readonly created_by: string;
  readonly created_at: Date;
}

/** `path` and what lies below it; the range is what the index finds, it also holds paths such as `path-x`. */
export const isAtOrBelow = (column: string, parameter: string): string =>
  `(${column} >= ${parameter} and ${column} < ${parameter} || '/'
    and substr(${column}, length(${parameter}) + 1, 1) in ('', '.'))`;

/** Stores a namespace; false when it is there already. */
export async function insertNamespace(tx: Queryable, namespace: Namespace): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into namespace (environment_id, path, created_by, created_at)
     values ($1, $2, $3, $4) on conflict do nothing`,
    [namespace.environmentId, namespace.path, namespace.createdBy, namespace.createdAt],
  );
  return rowCount === 1;
}

/** Namespaces of an environment by path, those after `after`. */
export async function listNamespaces(
  db: Queryable,
  { environmentId, after, limit }: { environmentId: string; after: string; limit: number },
): Promise<Namespace[]> {
  const { rows } = await db.query<NamespaceRow>(
    `select environment_id, path, created_by, created_at from namespace
     where environment_id = $1 and path > $2 order by path limit $3`,
    [environmentId, after, limit],
  );
  return rows.map((row) => ({
    environmentId: row.environment_id,
    path: row.path,
    createdBy: row.created_by,
    createdAt: row.created_at,
  }));
}

/** Deletes the namespace and those below it, and says which; none where it is not there itself. */
export async function deleteNamespaces(
  tx: Queryable,
  { environmentId, path }: Pick<Namespace, "environmentId" | "path">,
): Promise<string[]> {
  const { rows } = await tx.query<{ path: string }>(
    `delete from namespace where environment_id = $1 and ${isAtOrBelow("path", "$2")}
       and exists (select from namespace itself where itself.environment_id = $1 and itself.path = $2)
     returning path`,
    [environmentId, path],
  );
  return rows.map((row) => row.path);
}
