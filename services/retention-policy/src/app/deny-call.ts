import { type CallContext, denied, recordRefusal } from "@lapse/kit";
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
  await recordRefusal(pool, {
    service: SERVICE,
    resource,
    traceparent,
    principal,
    right,
    method,
    tenant,
  });
  throw denied("RIGHT_MISSING", message, { details: { right } });
}
