import { type CallContext, hasRight, type Pool, recordRefusal, requireRight } from "@lapse/kit";
import type { Catalog } from "../peers/catalog.ts";
import { SERVICE } from "../service-name.ts";

const RIGHT = "audit.read";

/**
 * Lets pass who may read the decisions of their tenant: by the roles of their token or API key, or by those bound in
 * the tenant, for which the catalog is asked. A refusal is a decision too: it goes into the log like every other, in
 * a transaction of its own.
 *
 * @throws denied `RIGHT_MISSING`, recorded; unavailable where the catalog must be asked and cannot be
 */
export async function requireAuditRead(
  { pool, catalog }: { readonly pool: Pool; readonly catalog: Catalog },
  call: CallContext,
): Promise<void> {
  const { principal, method, traceparent } = call;
  if (hasRight(principal, RIGHT)) return;
  const rights = await catalog.getTenantRights(call);
  if (!hasRight(principal, RIGHT, { rights })) {
    const resource = { kind: "audit", id: "", name: "", environment: "" };
    await recordRefusal(pool, {
      service: SERVICE,
      resource,
      traceparent,
      principal,
      right: RIGHT,
      method,
    });
  }
  requireRight(principal, RIGHT, { rights });
}
