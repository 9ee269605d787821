import { ANY_TENANT } from "@lapse/kit";
import type { Environment } from "../domain/environment.ts";
import { type EnvironmentCursor, listEnvironments } from "../store/environments.ts";
import { environmentResource, requireAnyRight } from "./access.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { type EnvironmentRef, requireEnvironment } from "./find-environment.ts";

/** @throws what `requireEnvironment` throws. */
export const getEnvironment = (
  deps: CatalogDeps,
  caller: Caller,
  ref: EnvironmentRef,
): Promise<Environment> =>
  recordingRefusals(deps, caller, async () => {
    const environment = await requireEnvironment(deps.pool, caller.principal, ref);
    requireAnyRight(caller.principal, ["table.read"], environmentResource(environment));
    return environment;
  });

/** Environments of the caller's tenant by name; for a service that acts for nobody, of all tenants. */
export const pageOfEnvironments = (
  deps: CatalogDeps,
  caller: Caller,
  page: { after: EnvironmentCursor | undefined; limit: number },
): Promise<Environment[]> =>
  recordingRefusals(deps, caller, () => {
    const { principal } = caller;
    const all = environmentResource({ environmentId: "", name: "*" });
    requireAnyRight(principal, ["table.read"], all);
    const tenant = principal.tenant === ANY_TENANT ? undefined : principal.tenant;
    return listEnvironments(deps.pool, { ...page, tenant });
  });
