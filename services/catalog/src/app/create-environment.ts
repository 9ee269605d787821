import { alreadyExists, appendEvent, newId, precondition } from "@lapse/kit";
import type { Environment } from "../domain/environment.ts";
import { tableBucket, tenantFault } from "../domain/location.ts";
import { environmentCreated } from "../events/environment-events.ts";
import { insertEnvironment } from "../store/environments.ts";
import { inTime } from "../store/in-time.ts";
import { storeFailure } from "../store/store-failure.ts";
import { environmentResource, requireRightOn } from "./access.ts";
import { type Call, change, recordingRefusals } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { type EnvironmentWithRights, tenantStanding, withRightsIn } from "./effective-rights.ts";
import { tenantOf } from "./find-environment.ts";

const BUCKET_TIMEOUT_MS = 8_000;

export interface NewEnvironment {
  readonly name: string;
  readonly protected: boolean;
}

/**
 * Creates an environment and the bucket of its tables.
 *
 * @throws already_exists `NAME_TAKEN`; precondition `TENANT_UNFIT` when the tenant's handle cannot name a bucket.
 */
export async function createEnvironment<A>(
  deps: CatalogDeps,
  call: Call<EnvironmentWithRights, A>,
  input: NewEnvironment,
): Promise<A> {
  const { principal, traceparent } = call;
  const tenant = tenantOf(principal);
  const bucket = tableBucket(tenant, input.name);
  await recordingRefusals(deps, call, async () => {
    const asked = environmentResource({ environmentId: "", name: input.name });
    const standing = await tenantStanding(deps.pool, principal);
    requireRightOn(principal, standing, "environment.manage", asked);
  });
  const fault = tenantFault(tenant);
  if (fault)
    throw precondition("TENANT_UNFIT", `tenant ${tenant} cannot have environments: ${fault}`);
  // Before the row, so that an environment that exists has its bucket; a bucket too many does no harm.
  await inTime(deps.objectStore.createBucket(bucket), BUCKET_TIMEOUT_MS).catch((error: unknown) => {
    throw storeFailure(error);
  });
  return change(deps, call, async (tx, now) => {
    const environment: Environment = {
      environmentId: newId(),
      tenant,
      name: input.name,
      protected: input.protected,
      changeVersion: 1n,
      policyVersion: 0n,
      tableBucket: bucket,
      createdBy: principal.subject,
      createdAt: now,
    };
    if (!(await insertEnvironment(tx, environment))) {
      throw alreadyExists(
        "NAME_TAKEN",
        `there is an environment ${input.name} already; choose another name`,
      );
    }
    await appendEvent(
      tx,
      environmentCreated(environment, { actor: principal.subject, traceparent }),
    );
    await appendCatalogDecision(tx, now, {
      type: "ENVIRONMENT_CREATED",
      tenant,
      actor: principal.subject,
      resource: environmentResource(environment),
      outcome: "done",
      reason: "request",
      details: { protected: environment.protected },
      traceparent,
    });
    return withRightsIn(tx, principal, environment);
  });
}
