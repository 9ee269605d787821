import { ANY_TENANT, invalid, notFound, type Principal, type Queryable } from "@lapse/kit";
import type { Environment } from "../domain/environment.ts";
import { findEnvironment, type RowLock } from "../store/environments.ts";
import { hasTableIn } from "../store/given.ts";
import { AccessDenied, type DecidedResource, environmentResource } from "./access.ts";
import {
  asked,
  type EnvironmentWithRights,
  tenantStanding,
  type Wanted,
  withRightsIn,
} from "./effective-rights.ts";

/** An environment as a caller names it. */
export type EnvironmentRef =
  | { readonly kind: "id"; readonly environmentId: string }
  | { readonly kind: "name"; readonly name: string };

export interface EnvironmentOptions {
  readonly lock?: RowLock;
  /** What the call is about, where it is not the environment itself. */
  readonly about?: DecidedResource;
}

/**
 * The environment in the caller's tenant, where its roles give one of the rights that are wanted.
 *
 * @throws not_found `ENVIRONMENT_NOT_FOUND`, also for another tenant's; AccessDenied without the right, and in the same
 *   words when there is none but the caller may not know; invalid `TENANT_REQUIRED` for a name from a service that acts
 *   for nobody.
 */
export async function requireEnvironment(
  db: Queryable,
  principal: Principal,
  ref: EnvironmentRef,
  wanted: Wanted,
  { lock = "none", about }: EnvironmentOptions = {},
): Promise<EnvironmentWithRights> {
  const found = await environmentOf(db, principal, ref, lock);
  if (!found) throw await unknownEnvironment(db, principal, ref, wanted, about);
  const environment = await withRightsIn(db, principal, found);
  if (asked(wanted).some((right) => environment.rights.includes(right))) return environment;
  throw new AccessDenied(principal, asked(wanted)[0], about ?? environmentResource(found), {
    shown: about?.name ?? refName(ref),
  });
}

/**
 * The environment, where its roles or a single table in it show it to the caller.
 *
 * @throws as {@link requireEnvironment}
 */
export async function requireVisibleEnvironment(
  db: Queryable,
  principal: Principal,
  ref: EnvironmentRef,
): Promise<EnvironmentWithRights> {
  const found = await environmentOf(db, principal, ref);
  if (!found) throw await unknownEnvironment(db, principal, ref, "table.read");
  const environment = await withRightsIn(db, principal, found);
  const visible =
    environment.rights.includes("table.read") ||
    (await hasTableIn(db, principal, environment.environmentId));
  if (visible) return environment;
  throw new AccessDenied(principal, "table.read", environmentResource(found), {
    shown: refName(ref),
  });
}

/** The environment in the caller's tenant, whatever the caller may do there; undefined where there is none. */
export async function environmentOf(
  db: Queryable,
  principal: Principal,
  ref: EnvironmentRef,
  lock: RowLock = "none",
): Promise<Environment | undefined> {
  const key =
    ref.kind === "id"
      ? { environmentId: ref.environmentId }
      : { tenant: tenantOf(principal), name: ref.name };
  const environment = await findEnvironment(db, key, lock);
  return environment && isInTenant(principal, environment.tenant) ? environment : undefined;
}

/** What a caller is told of an environment that is not there: only who could see any of them learns as much. */
export async function unknownEnvironment(
  db: Queryable,
  principal: Principal,
  ref: EnvironmentRef,
  wanted: Wanted,
  about?: DecidedResource,
): Promise<Error> {
  const name = refName(ref);
  const { rights } = await tenantStanding(db, principal);
  if (!rights.includes("table.read")) {
    const id = ref.kind === "id" ? ref.environmentId : "";
    const resource = about ?? environmentResource({ environmentId: id, name });
    return new AccessDenied(principal, asked(wanted)[0], resource);
  }
  return notFound(
    "ENVIRONMENT_NOT_FOUND",
    `there is no environment ${name}; see the list of environments`,
  );
}

const refName = (ref: EnvironmentRef): string => (ref.kind === "id" ? ref.environmentId : ref.name);

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
