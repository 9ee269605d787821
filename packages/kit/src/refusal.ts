import { databaseClock } from "./clock.ts";
import { appendDecision, type DecisionEvent } from "./outbox.ts";
import type { Pool } from "./postgres.ts";
import type { Principal } from "./principal.ts";
import { withTransaction } from "./transaction.ts";

/** A call that was refused for a right that its principal lacks. */
export interface Refusal extends Pick<DecisionEvent, "service" | "resource" | "traceparent"> {
  readonly principal: Principal;
  readonly right: string;
  /** The gRPC method, where it is known. */
  readonly method?: string | undefined;
  /** In whose log it goes; the principal's own unless given. */
  readonly tenant?: string;
  /** Stable slug; `right_missing` unless given. */
  readonly reason?: string;
  /** More than the right and the method. */
  readonly details?: Readonly<Record<string, string>>;
}

/** Records `AUTHORIZATION_DENIED` in a transaction of its own: the refused call has none, or rolls it back. */
export async function recordRefusal(
  pool: Pool,
  { service, resource, traceparent, principal, right, method, tenant, reason, details }: Refusal,
): Promise<void> {
  await withTransaction(pool, async (tx) => {
    const now = await databaseClock(tx).now();
    const decision: DecisionEvent = {
      service,
      tenant: tenant ?? principal.tenant,
      actor: principal.subject,
      type: "AUTHORIZATION_DENIED",
      resource,
      outcome: "refused",
      reason: reason ?? "right_missing",
      details: { ...details, right, ...(method !== undefined && { method }) },
      traceparent,
    };
    await appendDecision(tx, decision, now);
  });
}
