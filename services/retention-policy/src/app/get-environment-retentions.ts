import { ANY_TENANT, type CallContext } from "@lapse/kit";
import type { PolicyDeps } from "../deps.ts";
import {
  findEnvironmentRetention,
  findEnvironmentRetentions,
  type StoredEnvironmentRetention,
} from "../store/environment-retention.ts";

/**
 * What is set for an environment that the caller may see; null: nothing ever was.
 *
 * @throws not_found `ENVIRONMENT_NOT_FOUND`
 */
export async function getEnvironmentRetention(
  { pool, catalog }: Pick<PolicyDeps, "pool" | "catalog">,
  environmentId: string,
  call: CallContext,
): Promise<StoredEnvironmentRetention | null> {
  const { id } = await catalog.getEnvironment(environmentId, call);
  return findEnvironmentRetention(pool, id);
}

/** What is set for those of the environments that are of the caller's tenant. */
export async function batchGetEnvironmentRetentions(
  { pool }: Pick<PolicyDeps, "pool">,
  environmentIds: readonly string[],
  { principal }: CallContext,
): Promise<StoredEnvironmentRetention[]> {
  const found = await findEnvironmentRetentions(pool, environmentIds);
  return principal.tenant === ANY_TENANT
    ? found
    : found.filter(({ tenant }) => tenant === principal.tenant);
}
