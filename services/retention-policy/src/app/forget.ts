import { type Pool, withTransaction } from "@lapse/kit";
import { publishEnvironmentRetention } from "../events/environment-retention.ts";
import { publishTableRetention } from "../events/table-retention.ts";
import { deleteEnvironmentRetention } from "../store/environment-retention.ts";
import { deleteTableRetention } from "../store/table-retention.ts";

/**
 * Forgets a table that was purged. Whoever follows rules is told that it has none, as of the version of the
 * purge, which is above every version of a rule.
 */
export async function forgetTable(pool: Pool, tableId: string, version: bigint): Promise<void> {
  await withTransaction(pool, async (tx) => {
    const forgotten = await deleteTableRetention(tx, tableId);
    if (forgotten !== null) {
      await publishTableRetention(tx, { ...forgotten, rule: null, version }, "purged");
    }
  });
}

/** Forgets an environment that was deleted, likewise. */
export async function forgetEnvironment(
  pool: Pool,
  environmentId: string,
  version: bigint,
): Promise<void> {
  await withTransaction(pool, async (tx) => {
    const forgotten = await deleteEnvironmentRetention(tx, environmentId);
    if (forgotten !== null) {
      await publishEnvironmentRetention(tx, { ...forgotten, rule: null, version });
    }
  });
}
