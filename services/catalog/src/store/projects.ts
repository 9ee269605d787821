import type { Queryable } from "@lapse/kit";
import type { AssetName, AssetOf, Deployment } from "../domain/project.ts";
import type { TablePlace } from "./tables.ts";

interface DeploymentRow {
  readonly environment_id: string;
  readonly tenant: string;
  readonly project: string;
  readonly version: string;
  readonly deployed_by: string;
  readonly deployed_at: Date;
}

const DEPLOYMENT_COLUMNS =
  "d.environment_id, d.tenant, d.project, d.version, d.deployed_by, d.deployed_at";

type VersionKey = Pick<Deployment, "tenant" | "project" | "version">;
type DeploymentKey = Pick<Deployment, "environmentId" | "project">;

/** The names that a version builds, sorted; undefined: there is no such version. */
export async function findVersion(
  tx: Queryable,
  { tenant, project, version }: VersionKey,
): Promise<readonly string[] | undefined> {
  const { rows } = await tx.query<{ assets: string[] }>(
    "select assets from project_version where tenant = $1 and project = $2 and version = $3",
    [tenant, project, version],
  );
  return rows[0]?.assets;
}

/** Stores a version once; one that is there already stays as it is. */
export async function insertVersion(
  tx: Queryable,
  { tenant, project, version }: VersionKey,
  { assets, actor, now }: { assets: readonly string[]; actor: string; now: Date },
): Promise<void> {
  await tx.query(
    `insert into project_version (tenant, project, version, assets, created_by, created_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [tenant, project, version, assets, actor, now],
  );
}

export async function findDeployment(
  tx: Queryable,
  { environmentId, project }: DeploymentKey,
): Promise<Deployment | undefined> {
  const { rows } = await tx.query<DeploymentRow>(
    `select ${DEPLOYMENT_COLUMNS} from project_deployment d where d.environment_id = $1 and d.project = $2`,
    [environmentId, project],
  );
  return rows[0] && toDeployment(rows[0]);
}

/** How many projects are current in the environment. */
export async function countDeployments(tx: Queryable, environmentId: string): Promise<number> {
  const { rows } = await tx.query<{ count: bigint }>(
    "select count(*) as count from project_deployment where environment_id = $1",
    [environmentId],
  );
  return Number(rows[0]?.count ?? 0n);
}

/** A deployment with the names its version builds. */
export interface DeployedProject extends Deployment {
  readonly assets: readonly string[];
}

/** The projects that are current in an environment by name, those after `after`. */
export async function listDeployments(
  db: Queryable,
  { environmentId, after, limit }: { environmentId: string; after: string; limit: number },
): Promise<DeployedProject[]> {
  const { rows } = await db.query<DeploymentRow & { assets: string[] }>(
    `select ${DEPLOYMENT_COLUMNS}, v.assets
     from project_deployment d join project_version v using (tenant, project, version)
     where d.environment_id = $1 and d.project > $2 order by d.project limit $3`,
    [environmentId, after, limit],
  );
  return rows.map((row) => ({ ...toDeployment(row), assets: row.assets }));
}

/** Makes a version current, with the names it builds in place of those before. */
export async function saveDeployment(
  tx: Queryable,
  deployment: Deployment,
  assets: readonly AssetName[],
): Promise<void> {
  const { environmentId, project } = deployment;
  await tx.query(
    `insert into project_deployment (environment_id, project, version, tenant, deployed_by, deployed_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (environment_id, project) do update set version = excluded.version,
       deployed_by = excluded.deployed_by, deployed_at = excluded.deployed_at`,
    [
      environmentId,
      project,
      deployment.version,
      deployment.tenant,
      deployment.deployedBy,
      deployment.deployedAt,
    ],
  );
  const names = [assets.map(({ namespace }) => namespace), assets.map(({ name }) => name)] as const;
  await tx.query(
    `delete from deployed_asset a where a.environment_id = $1 and a.project = $2
       and (a.namespace, a.name) not in (select * from unnest($3::text[], $4::text[]))`,
    [environmentId, project, ...names],
  );
  await tx.query(
    `insert into deployed_asset (environment_id, project, namespace, name)
     select $1, $2, * from unnest($3::text[], $4::text[]) on conflict do nothing`,
    [environmentId, project, ...names],
  );
}

/** The project has no current version in the environment any more. */
export async function deleteDeployment(
  tx: Queryable,
  { environmentId, project }: DeploymentKey,
): Promise<void> {
  await tx.query("delete from project_deployment where environment_id = $1 and project = $2", [
    environmentId,
    project,
  ]);
}

/** Which current project builds a table of this name; the first by name where several do. */
export async function findAsset(
  tx: Queryable,
  { environmentId, namespace, name }: TablePlace,
): Promise<AssetOf | undefined> {
  const { rows } = await tx.query<{ project: string; version: string }>(
    `select d.project, d.version from deployed_asset a join project_deployment d using (environment_id, project)
     where a.environment_id = $1 and a.namespace = $2 and a.name = $3 order by d.project limit 1`,
    [environmentId, namespace, name],
  );
  return rows[0];
}

/**
 * The live tables that become an asset, or none any more, when `project` builds these names in place of those it builds
 * now; with the environment's names locked for update, until the end of the transaction no other table does.
 */
export async function findAssetFlips(
  tx: Queryable,
  { environmentId, project }: DeploymentKey,
  assets: readonly AssetName[],
): Promise<string[]> {
  const { rows } = await tx.query<{ table_id: string }>(
    `select t.table_id
     from (
       select namespace, name, bool_or(built) as built from (
         select *, true as built from unnest($3::text[], $4::text[]) as wanted (namespace, name)
         union all
         select namespace, name, false from deployed_asset where environment_id = $1 and project = $2
       ) every group by namespace, name
     ) named
     join catalog_table t on t.environment_id = $1 and t.state = 'live'
       and t.namespace = named.namespace and t.name = named.name
     where t.project_asset <> (named.built or exists (
       select from deployed_asset other where other.environment_id = $1
         and other.namespace = t.namespace and other.name = t.name and other.project <> $2))`,
    [
      environmentId,
      project,
      assets.map(({ namespace }) => namespace),
      assets.map(({ name }) => name),
    ],
  );
  return rows.map((row) => row.table_id);
}

const toDeployment = (row: DeploymentRow): Deployment => ({
  environmentId: row.environment_id,
  tenant: row.tenant,
  project: row.project,
  version: row.version,
  deployedBy: row.deployed_by,
  deployedAt: row.deployed_at,
});
