import { type Queryable, withTransaction } from "@lapse/kit";
import type { PolicyDeps } from "../deps.ts";
import { settle } from "../domain/version.ts";
import { type EnvironmentKey, lockEnvironmentRetention } from "../store/environment-retention.ts";
import { stampEnvironment } from "./stamp-environment.ts";

/**
 * Stamps the environment's setting in force, or its absence, with a version that the catalog gave out, so that
 * its tables can expire again though whoever was given that version never committed. Who set it and when stay
 * as they were: no table gets a new period by it.
 */
export async function settleEnvironmentRetention(
  { pool }: Pick<PolicyDeps, "pool">,
  key: EnvironmentKey,
  version: bigint,
): Promise<void> {
  await withTransaction(pool, (tx) => settleEnvironment(tx, key, version));
}

/** {@link settleEnvironmentRetention} as part of a transaction. */
export async function settleEnvironment(
  tx: Queryable,
  key: EnvironmentKey,
  version: bigint,
): Promise<void> {
  const locked = await lockEnvironmentRetention(tx, key);
  const next = settle(locked, version);
  if (next !== null) {
    await stampEnvironment(tx, locked, next);
  }
}
