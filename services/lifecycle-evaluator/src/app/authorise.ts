import {
  type CallContext,
  denied,
  hasRight,
  type Principal,
  type Right,
  recordRefusal,
} from "@lapse/kit";
import type { TableFacts } from "../domain/table-facts.ts";
import { SERVICE } from "../service-name.ts";
import type { EvaluatorDeps } from "./deps.ts";

/** What a right is needed on, as the audit log names it. */
export interface Resource {
  readonly kind: "table" | "environment" | "sweep" | "evaluator";
  readonly id: string;
  readonly name: string;
  readonly environment: string;
}

/** Whether the principal may know that something of `tenant` exists. */
export function belongsTo(principal: Principal, tenant: string): boolean {
  return principal.kind === "service" || principal.tenant === tenant;
}

/** The tenant a caller is confined to; null: a service, which acts for any. */
export function tenantOf(principal: Principal): string | null {
  return principal.kind === "service" ? null : principal.tenant;
}

/**
 * Lets the call go on if its principal has the right in all of its tenant: by the roles of its token or API key, or
 * by what the catalog says of those bound in the tenant. Sweeps and what is shown of them need that; a role in one
 * environment does not open them.
 *
 * @throws denied `RIGHT_MISSING`; unavailable where the catalog must be asked and cannot be
 */
export async function authorise(
  deps: Pick<EvaluatorDeps, "pool" | "catalog">,
  call: CallContext,
  right: Right,
  resource: Resource,
): Promise<void> {
  if (hasRight(call.principal, right)) {
    return;
  }
  const rights = await deps.catalog.getTenantRights(call);
  if (!rights.includes(right)) {
    await refuse(deps, call, right, resource);
  }
}

/**
 * Lets the call go on if its principal may do that with the table: by its token, as the owner, or by what the
 * catalog says of roles and grants. A table that is not known, or not to this principal (undefined), is open to
 * those only who may see every table, so that the answer does not tell others that there is none.
 *
 * @throws denied `RIGHT_MISSING`; unavailable where the catalog cannot be asked
 */
export async function authoriseTable(
  deps: Pick<EvaluatorDeps, "pool" | "catalog">,
  call: CallContext,
  right: Right,
  { tableId, facts }: { readonly tableId: string; readonly facts: TableFacts | undefined },
): Promise<void> {
  if (hasRight(call.principal, right, { owner: facts?.owner })) {
    return;
  }
  if (facts !== undefined) {
    const rights = await deps.catalog.getTableRights([tableId], call);
    if (rights.get(tableId)?.includes(right)) {
      return;
    }
  }
  await refuse(deps, call, right, {
    kind: "table",
    id: tableId,
    name: facts === undefined ? "" : `${facts.namespace}.${facts.name}`,
    environment: facts?.environment ?? "",
  });
}

/**
 * Refuses the call and records that, in a transaction of its own.
 *
 * @throws denied `RIGHT_MISSING`, always
 */
export async function refuse(
  { pool }: Pick<EvaluatorDeps, "pool">,
  { principal, traceparent, method }: CallContext,
  right: Right,
  resource: Resource,
): Promise<never> {
  await recordRefusal(pool, { service: SERVICE, resource, traceparent, principal, right, method });
  throw denied(
    "RIGHT_MISSING",
    `${principal.subject} lacks the right ${right}; ask an admin of ${principal.tenant} for a role that has it`,
    { details: { right } },
  );
}
