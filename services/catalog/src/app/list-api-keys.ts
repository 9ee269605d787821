import type { ApiKey } from "../domain/api-key.ts";
import { listKeys } from "../store/api-keys.ts";
import type { Caller } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { tenantStanding } from "./effective-rights.ts";
import { tenantOf } from "./find-environment.ts";

/** Keys in the order they were made, those that ended included: an admin sees all of the tenant, others their own. */
export async function pageOfApiKeys(
  { pool }: CatalogDeps,
  { principal }: Pick<Caller, "principal">,
  page: { after: string | undefined; limit: number },
): Promise<ApiKey[]> {
  const tenant = tenantOf(principal);
  const { rights } = await tenantStanding(pool, principal);
  const createdBy = rights.includes("access.manage") ? undefined : principal.subject;
  return listKeys(pool, { ...page, tenant, createdBy });
}
