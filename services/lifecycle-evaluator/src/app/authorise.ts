import {
  type CallContext,
  denied,
  hasRight,
  type Principal,
  type Right,
  recordRefusal,
} from "@lapse/kit";
import { SERVICE } from "../service-name.ts";
import type { EvaluatorDeps } from "./deps.ts";

/** The parts of a call that decide who may do what. */
export type Caller = Pick<CallContext, "principal" | "traceparent" | "method">;

/** What a right is needed on, as the audit log names it. */
export interface Resource {
  readonly kind: "table" | "environment" | "sweep" | "evaluator";
  readonly id: string;
  readonly name: string;
  readonly environment: string;
  /** Subject of its owner, who needs no role. */
  readonly owner?: string;
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
 * Lets the call go on if its principal has the right. A refusal is recorded, in a transaction of its own.
 *
 * @throws denied `RIGHT_MISSING`
 */
export async function authorise(
  { pool }: Pick<EvaluatorDeps, "pool">,
  { principal, traceparent, method }: Caller,
  right: Right,
  { owner, ...resource }: Resource,
): Promise<void> {
  if (hasRight(principal, right, { owner })) {
    return;
  }
  await recordRefusal(pool, { service: SERVICE, resource, traceparent, principal, right, method });
  throw denied(
    "RIGHT_MISSING",
    `${principal.subject} lacks the right ${right}; ask an admin of ${principal.tenant} for a role that has it`,
    { details: { right } },
  );
}
