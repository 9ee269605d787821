import { type BindingCursor, listBindings, type NamedBinding } from "../store/roles.ts";
import { requireRightOn, tenantResource } from "./access.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { tenantStanding } from "./effective-rights.ts";
import {
  type EnvironmentRef,
  requireEnvironment,
  requireVisibleEnvironment,
  tenantOf,
} from "./find-environment.ts";

export interface RolesPage {
  /** Undefined: those that hold everywhere, and those of all environments. */
  readonly environment: EnvironmentRef | undefined;
  /** Undefined: all subjects. */
  readonly subject: string | undefined;
  readonly after: BindingCursor | undefined;
  readonly limit: number;
}

/** The roles that people were given. Whoever manages access there sees all of them, everybody their own. */
export const pageOfRoles = (
  deps: CatalogDeps,
  caller: Caller,
  { environment: ref, ...page }: RolesPage,
): Promise<NamedBinding[]> =>
  recordingRefusals(deps, caller, async () => {
    const [{ pool }, { principal }] = [deps, caller];
    const own = page.subject === principal.subject;
    if (ref) {
      const { environmentId, tenant } = own
        ? await requireVisibleEnvironment(pool, principal, ref)
        : await requireEnvironment(pool, principal, ref, "access.manage");
      return listBindings(pool, { ...page, tenant, environmentId });
    }
    const tenant = tenantOf(principal);
    if (!own) {
      const standing = await tenantStanding(pool, principal);
      requireRightOn(principal, standing, "access.manage", tenantResource(tenant));
    }
    return listBindings(pool, { ...page, tenant, environmentId: undefined });
  });
