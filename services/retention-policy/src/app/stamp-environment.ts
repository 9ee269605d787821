import type { Queryable } from "@lapse/kit";
import type { EnvironmentSetting } from "../domain/environment-setting.ts";
import type { Versioned } from "../domain/version.ts";
import { publishEnvironmentRetention } from "../events/environment-retention.ts";
import {
  type StoredEnvironmentRetention,
  storeEnvironmentRetention,
} from "../store/environment-retention.ts";

/** Stores what an environment's setting is as of a version, over the row that the transaction locked, and says so. */
export async function stampEnvironment(
  tx: Queryable,
  locked: StoredEnvironmentRetention,
  next: Versioned<EnvironmentSetting>,
): Promise<StoredEnvironmentRetention> {
  const stored = { ...locked, ...next };
  await storeEnvironmentRetention(tx, locked.environmentId, next);
  await publishEnvironmentRetention(tx, stored);
  return stored;
}
