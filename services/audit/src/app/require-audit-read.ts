import {
  appendDecision,
  type CallContext,
  databaseClock,
  hasRight,
  type Pool,
  requireRight,
  withTransaction,
} from "@lapse/kit";
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
    await withTransaction(pool, async (tx) =>
      appendDecision(
        tx,
        {
          service: SERVICE,
          tenant: principal.tenant,
          actor: principal.subject,
          type: "AUTHORIZATION_DENIED",
          resource: { kind: "audit", id: "", name: "", environment: "" },
          outcome: "refused",
          reason: "right_missing",
          details: { right, method },
          traceparent,
        },
        await databaseClock(tx).now(),
      ),
    );
  }
  requireRight(principal, right);
}
