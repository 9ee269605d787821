import type { Right } from "@lapse/kit";
import type { Caller } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { tenantStanding } from "./effective-rights.ts";

/**
 * What the principal may do in all of its tenant, sorted: what authorises the calls of other services that belong to
 * no environment, such as sweeps and the audit log. To have none of them is no refusal: whoever asked decides.
 */
export async function getTenantRights(
  { pool }: Pick<CatalogDeps, "pool">,
  { principal }: Pick<Caller, "principal">,
): Promise<readonly Right[]> {
  const { rights } = await tenantStanding(pool, principal);
  return rights;
}
