import { denied } from "./errors.ts";
import type { Pool } from "./postgres.ts";
import { recordRefusal } from "./refusal.ts";
import type { CallContext } from "./rpc/types.ts";

/**
 * Lets pass what a service calls, for itself or on behalf of somebody. Anybody else is refused whatever their role,
 * and that is recorded like any other refusal.
 *
 * @throws denied `SERVICE_REQUIRED`
 */
export async function requireService(
  pool: Pool,
  service: string,
  { caller, traceparent, method }: Pick<CallContext, "caller" | "traceparent" | "method">,
): Promise<void> {
  if (caller.kind === "service") return;
  const resource = { kind: "method", id: method, name: method, environment: "" };
  await recordRefusal(pool, {
    service,
    resource,
    principal: caller,
    right: "service",
    traceparent,
  });
  throw denied("SERVICE_REQUIRED", "this is answered to services only");
}
