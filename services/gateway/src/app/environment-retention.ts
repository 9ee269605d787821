import { toLapseError } from "@lapse/kit";
import type { Environment } from "@lapse/proto/catalog";
import type { EnvironmentRetention } from "@lapse/proto/policy";
import type { Peers } from "../peers.ts";
import { type Call, reading } from "./call.ts";

/** An environment with its retention; undefined: it never had one. */
export interface EnvironmentView {
  readonly environment: Environment;
  readonly retention: EnvironmentRetention | undefined | "unknown";
}

const WAIT_MS = 1_500;

/** The environments with their retention, in order; it is `unknown` while retention-policy does not answer. */
export async function withRetention(
  { policy }: Pick<Peers, "policy">,
  call: Call,
  environments: readonly Environment[],
): Promise<EnvironmentView[]> {
  const environmentIds = environments.map(({ environmentId }) => environmentId);
  if (environmentIds.length === 0) return [];
  try {
    const answer = await policy.batchGetEnvironmentRetentions(
      { environmentIds },
      reading(call, { deadlineMs: WAIT_MS }),
    );
    const found = new Map(answer.retentions.map((each) => [each.environmentId, each]));
    return environments.map((environment) => ({
      environment,
      retention: found.get(environment.environmentId),
    }));
  } catch (thrown) {
    const error = toLapseError(thrown);
    call.log.warn({ reason: error.reason }, "the retentions of environments are not to be had");
    return environments.map((environment) => ({ environment, retention: "unknown" }));
  }
}
