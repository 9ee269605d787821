import { ANY_TENANT } from "@lapse/kit";
import {
  type EnvironmentCursor,
  listEnvironments,
  listOpenEnvironments,
} from "../store/environments.ts";
import { environmentResource, requireRightOn } from "./access.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import {
  type EnvironmentWithRights,
  tenantStanding,
  withEnvironmentRights,
} from "./effective-rights.ts";
import { type EnvironmentRef, requireVisibleEnvironment } from "./find-environment.ts";

/** Shown by a role in it, or by a single table that the caller owns or was granted. */
export const getEnvironment = (
  deps: CatalogDeps,
  caller: Caller,
  ref: EnvironmentRef,
): Promise<EnvironmentWithRights> =>
  recordingRefusals(deps, caller, () =>
    requireVisibleEnvironment(deps.pool, caller.principal, ref),
  );

/**
 * Environments of the caller's tenant by name: all by a role that holds everywhere, else those that `getEnvironment` shows.
 * For a service that acts for nobody, those of all tenants.
 *
 * @throws AccessDenied when there is none that it may see.
 */
export const pageOfEnvironments = (
  deps: CatalogDeps,
  caller: Caller,
  page: { after: EnvironmentCursor | undefined; limit: number },
): Promise<EnvironmentWithRights[]> =>
  recordingRefusals(deps, caller, async () => {
    const [{ pool }, { principal }] = [deps, caller];
    const tenant = principal.tenant === ANY_TENANT ? undefined : principal.tenant;
    const standing = await tenantStanding(pool, principal);
    const seesAll = standing.rights.includes("table.read");
    const environments = seesAll
      ? await listEnvironments(pool, { ...page, tenant })
      : await listOpenEnvironments(pool, page, principal);
    if (environments.length === 0 && !page.after) {
      requireRightOn(principal, standing, "table.read", ALL);
    }
    return withEnvironmentRights(pool, principal, environments);
  });

const ALL = environmentResource({ environmentId: "", name: "*" });
