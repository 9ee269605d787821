import type { GrpcClient } from "@lapse/kit";
import type { RetentionPolicyService } from "@lapse/proto/policy";
import type { RetentionPolicy } from "../app/peers.ts";

type Client = Pick<
  GrpcClient<typeof RetentionPolicyService>,
  "settleTableRetention" | "settleEnvironmentRetention"
>;

/** A call that fails is made again by the next sweep: no reason to hold up the due events for long. */
const DEADLINE_MS = 2_000;

/** Retention-policy over gRPC. */
export const retentionPolicyOver = (client: Client): RetentionPolicy => ({
  async settleTable({ tableId, tenant, environmentId, retentionVersion }) {
    await client.settleTableRetention(
      { tableId, tenant, environmentId, retentionVersion },
      { deadlineMs: DEADLINE_MS },
    );
  },
  async settleEnvironment({ environmentId, tenant, policyVersion }) {
    await client.settleEnvironmentRetention(
      { environmentId, tenant, policyVersion },
      { deadlineMs: DEADLINE_MS },
    );
  },
});
