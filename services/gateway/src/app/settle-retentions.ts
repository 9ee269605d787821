import { toLapseError } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import type { Peers } from "../peers.ts";
import type { Call } from "./call.ts";

/** Of a page, so that a list stays quick; the next reading of it takes the next ones. */
const AT_MOST = 20;
const WITHIN_MS = 1_000;

/**
 * Has retention-policy settle the rules of tables whose versions the evaluator does not reach. Mostly it is
 * just behind, and this changes nothing. But where a change of a retention died between its touch and its
 * commit, nothing else would bring the versions together until a sweep finds such a table due, which may be
 * never, and its expiry could not be read until then. Asked as the gateway itself, not for the caller.
 */
export async function settleRetentions(
  { policy }: Pick<Peers, "policy">,
  call: Call,
  tables: readonly Table[],
): Promise<void> {
  const options = { traceparent: call.traceparent, deadlineMs: WITHIN_MS };
  const some = tables.slice(0, AT_MOST);
  const environments = new Map(some.map((table) => [table.environmentId, table]));
  const settled = await Promise.allSettled([
    ...some
      .filter(({ retentionVersion }) => retentionVersion > 0n)
      .map(({ tableId, tenant, environmentId, retentionVersion }) =>
        policy.settleTableRetention({ tableId, tenant, environmentId, retentionVersion }, options),
      ),
    ...[...environments.values()]
      .filter(({ environmentPolicyVersion }) => environmentPolicyVersion > 0n)
      .map(({ environmentId, tenant, environmentPolicyVersion: policyVersion }) =>
        policy.settleEnvironmentRetention({ environmentId, tenant, policyVersion }, options),
      ),
  ]);
  for (const one of settled) {
    if (one.status === "fulfilled") continue;
    // The next reading tries again; this one has its answer without.
    call.log.warn({ reason: toLapseError(one.reason).reason }, "a retention could not be settled");
  }
}
