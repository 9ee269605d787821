import {
  appendDecision,
  type CallContext,
  databaseClock,
  denied,
  withTransaction,
} from "@lapse/kit";
import type { PolicyDeps } from "../deps.ts";
import { SERVICE } from "../service-name.ts";

/** What is refused to whom, for the audit record and for the caller. */
export interface Denial {
  /** The right that the caller lacks. */
  readonly right: string;
  readonly tenant: string;
  readonly resource: {
    readonly kind: string;
    readonly id: string;
    readonly name: string;
    readonly environment: string;
  };
  readonly message: string;
}

/**
 * Refuses the call and records that, in a transaction of its own.
 *
 * @throws denied `RIGHT_MISSING`, always
 */
export async function denyCall(
  { pool }: Pick<PolicyDeps, "pool">,
  { principal, method, traceparent }: CallContext,
  { right, tenant, resource, message }: Denial,
): Promise<never> {
  await withTransaction(pool, async (tx) =>
    appendDecision(
      tx,
      {
        service: SERVICE,
        tenant,
        actor: principal.subject,
        type: "AUTHORIZATION_DENIED",
        resource,
        outcome: "refused",
        reason: "right_missing",
        details: { right, method },
        traceparent,
      },
      await databaseClock(tx).now(),
    ),
  );
  throw denied("RIGHT_MISSING", message, { details: { right } });
}
