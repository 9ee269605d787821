import { ANY_TENANT, type CallContext, hasRight } from "@lapse/kit";
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

/** What is set for those of the environments that the caller may see. */
export async function batchGetEnvironmentRetentions(
  { pool, catalog }: Pick<PolicyDeps, "pool" | "catalog">,
  environmentIds: readonly string[],
  call: CallContext,
): Promise<StoredEnvironmentRetention[]> {
  const found = await findEnvironmentRetentions(pool, environmentIds);
  const { principal } = call;
  if (principal.tenant === ANY_TENANT) {
    return found;
  }
  const own = found.filter(({ tenant }) => tenant === principal.tenant);
  if (own.length === 0 || hasRight(principal, "table.read")) {
    return own;
  }
  const visible = new Set(await catalog.visibleEnvironments(call));
  return own.filter(({ environmentId }) => visible.has(environmentId));
}
