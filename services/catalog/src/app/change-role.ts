import { mayGive, type Principal, type Queryable, type Role } from "@lapse/kit";
import {
  deleteBinding,
  findBinding,
  insertBinding,
  type NamedBinding,
  type RoleBinding,
} from "../store/roles.ts";
import { exactlyOne } from "../store/rows.ts";
import {
  AccessDenied,
  type DecidedResource,
  environmentResource,
  requireRightOn,
  tenantResource,
} from "./access.ts";
import { type Call, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { allRolesIn, tenantStanding } from "./effective-rights.ts";
import { type EnvironmentRef, requireEnvironment, tenantOf } from "./find-environment.ts";

export interface RoleRequest {
  readonly subject: string;
  readonly role: Role;
  /** Undefined: everywhere in the tenant. */
  readonly environment: EnvironmentRef | undefined;
}

/** Gives a subject a role in an environment, or everywhere in the tenant. One that it has already is fine. */
export const grantRole = <A>(
  deps: CatalogDeps,
  call: Call<NamedBinding, A>,
  input: RoleRequest,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal } = call;
    const place = await managedPlace(tx, principal, input);
    const binding = { ...place.key, grantedBy: principal.subject, grantedAt: now };
    if (await insertBinding(tx, binding)) {
      await record(tx, now, call, { ...place, type: "ROLE_GRANTED" });
    }
    const stored = await findBinding(tx, place.key);
    return exactlyOne(stored ? [stored] : [], "granting a role");
  });

/** Takes a role back. One that the subject does not have is fine. */
export const revokeRole = <A>(
  deps: CatalogDeps,
  call: Call<void, A>,
  input: RoleRequest,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const place = await managedPlace(tx, call.principal, input);
    if (await deleteBinding(tx, place.key)) {
      await record(tx, now, call, { ...place, type: "ROLE_REVOKED" });
    }
  });

type BindingKey = Omit<RoleBinding, "grantedBy" | "grantedAt">;

interface Place {
  readonly key: BindingKey;
  readonly resource: DecidedResource;
}

/**
 * Where the role holds, if the caller may manage access there and has itself a role as high as the one that it changes:
 * an admin makes no superadmin, and unmakes none.
 */
async function managedPlace(
  tx: Queryable,
  principal: Principal,
  { subject, role, environment: ref }: RoleRequest,
): Promise<Place> {
  const place = ref ? await environmentPlace(tx, principal, ref) : await tenantPlace(tx, principal);
  if (principal.kind !== "service" && !mayGive(place.roles, role)) {
    throw new AccessDenied(principal, "access.manage", place.resource, {
      advice: `the role ${role} is above your own; ask somebody who has it`,
    });
  }
  const { tenant, environmentId, resource } = place;
  return { key: { tenant, subject, role, environmentId }, resource };
}

async function environmentPlace(tx: Queryable, principal: Principal, ref: EnvironmentRef) {
  // Locked, so that none is left in an environment that is being deleted.
  const environment = await requireEnvironment(tx, principal, ref, "access.manage", {
    lock: "share",
  });
  const { tenant, environmentId } = environment;
  const roles = await allRolesIn(tx, principal, environmentId);
  return { tenant, environmentId, roles, resource: environmentResource(environment) };
}

async function tenantPlace(tx: Queryable, principal: Principal) {
  const tenant = tenantOf(principal);
  const resource = tenantResource(tenant);
  const standing = await tenantStanding(tx, principal);
  requireRightOn(principal, standing, "access.manage", resource);
  return { tenant, environmentId: null, roles: await allRolesIn(tx, principal), resource };
}

const record = (
  tx: Queryable,
  now: Date,
  { principal, traceparent }: Pick<Call<never, never>, "principal" | "traceparent">,
  { key, resource, type }: Place & { readonly type: "ROLE_GRANTED" | "ROLE_REVOKED" },
) =>
  appendCatalogDecision(tx, now, {
    type,
    tenant: key.tenant,
    actor: principal.subject,
    resource,
    outcome: "done",
    reason: "request",
    details: { subject: key.subject, role: key.role },
    traceparent,
  });
