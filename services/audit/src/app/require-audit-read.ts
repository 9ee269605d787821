import { type CallContext, hasRight, type Pool, recordRefusal, requireRight } from "@lapse/kit";
import { SERVICE } from "../service-name.ts";

/**
 * Lets pass who may read the decisions of their tenant. A refusal is a decision too: it goes into the log like
 * every other, in a transaction of its own.
 *
 * @throws denied `RIGHT_MISSING`, recorded
 */
export async function requireAuditRead(
  pool: Pool,
  { principal, method, traceparent }: CallContext,
): Promise<void> {
  const right = "audit.read";
  if (!hasRight(principal, right)) {
    const resource = { kind: "audit", id: "", name: "", environment: "" };
    await recordRefusal(pool, {
      service: SERVICE,
      resource,
      traceparent,
      principal,
      right,
      method,
    });
  }
  requireRight(principal, right);
}
