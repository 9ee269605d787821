import type { Settle } from "../domain/due.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { forEachConcurrently } from "./concurrently.ts";
import type { CatalogDeps } from "./deps.ts";

/** A table that was kept because the catalog is ahead, and in what. */
export interface Settlement {
  readonly entry: TableInEnvironment;
  readonly ahead: Settle;
}

const CONCURRENT_CALLS = 4;

/**
 * Asks retention-policy to bring its rules up to the catalog's versions: either a change is under way, and this is
 * harmless, or its caller died half-way, and without this the table would never expire. A failure is logged; the next
 * sweep finds the same mismatch and asks again.
 */
export async function settleRetentions(
  { retentionPolicy, log, metrics }: CatalogDeps,
  settlements: readonly Settlement[],
): Promise<void> {
  const tables = settlements.filter(({ ahead }) => ahead.table).map(({ entry }) => entry.table);
  const environments = new Map(
    settlements
      .filter(({ ahead }) => ahead.environment)
      .map(({ entry: { environment } }) => [environment.environmentId, environment]),
  );
  const calls = [
    ...tables.map((table) => () => retentionPolicy.settleTable(table)),
    ...[...environments.values()].map((each) => () => retentionPolicy.settleEnvironment(each)),
  ];
  await forEachConcurrently(calls, CONCURRENT_CALLS, async (call) => {
    try {
      await call();
    } catch (error) {
      metrics.settleFailed();
      log.warn({ err: error }, "a retention could not be settled; the next sweep tries again");
    }
  });
}
