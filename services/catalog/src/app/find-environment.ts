import {
  ANY_TENANT,
  hasRight,
  invalid,
  notFound,
  type Principal,
  type Queryable,
} from "@lapse/kit";
import type { Environment } from "../domain/environment.ts";
import { findEnvironment, type RowLock } from "../store/environments.ts";
import { AccessDenied } from "./access.ts";

/** An environment as a caller names it. */
export type EnvironmentRef =
  | { readonly kind: "id"; readonly environmentId: string }
  | { readonly kind: "name"; readonly name: string };

/**
 * The environment in the caller's tenant.
 *
 * @throws not_found `ENVIRONMENT_NOT_FOUND`, also for another tenant's; AccessDenied when the caller may not even know
 *   which environments there are; invalid `TENANT_REQUIRED` for a name from a service that acts for nobody.
 */
export async function requireEnvironment(
  db: Queryable,
  principal: Principal,
  ref: EnvironmentRef,
  lock: RowLock = "none",
): Promise<Environment> {
  const key =
    ref.kind === "id"
      ? { environmentId: ref.environmentId }
      : { tenant: tenantOf(principal), name: ref.name };
  const environment = await findEnvironment(db, key, lock);
  if (environment && isInTenant(principal, environment.tenant)) return environment;
  const name = ref.kind === "id" ? ref.environmentId : ref.name;
  if (!hasRight(principal, "table.read")) {
    throw new AccessDenied(principal, "table.read", {
      kind: "environment",
      id: ref.kind === "id" ? ref.environmentId : "",
      name,
      environment: "",
    });
  }
  throw notFound(
    "ENVIRONMENT_NOT_FOUND",
    `there is no environment ${name}; see the list of environments`,
  );
}

/** Whether something of this tenant exists for the principal. */
export const isInTenant = (principal: Principal, tenant: string): boolean =>
  principal.tenant === ANY_TENANT || principal.tenant === tenant;

/** @throws invalid `TENANT_REQUIRED` where a service acts for nobody, and so in no tenant. */
export function tenantOf(principal: Principal): string {
  if (principal.tenant !== ANY_TENANT) return principal.tenant;
  throw invalid(
    "TENANT_REQUIRED",
    "a service that acts for nobody has no tenant: name the thing by its id, or act on behalf of someone",
  );
}
