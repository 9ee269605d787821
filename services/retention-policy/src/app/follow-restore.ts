import {
  appendDecision,
  databaseClock,
  type Pool,
  type Queryable,
  withTransaction,
} from "@lapse/kit";
import { ruleAfterRestore } from "../domain/restore.ts";
import { ruleInForce } from "../domain/rule-in-force.ts";
import { settle } from "../domain/version.ts";
import { SERVICE } from "../service-name.ts";
import {
  lockTableRetention,
  type StoredTableRetention,
  type TableKey,
} from "../store/table-retention.ts";
import { stampTable } from "./stamp-table.ts";

/** A table that came back by undrop. */
export interface Restore extends TableKey {
  readonly name: string;
  readonly environment: string;
  readonly restoredAt: Date;
  /** The version that the restore gave the table. */
  readonly version: bigint;
  /** Who restored it. */
  readonly actor: string;
  readonly traceparent: string | undefined;
}

/**
 * Stamps a restored table's rule with the restore's version, and removes a day that had come (T28). A rule set
 * since the restore is newer and stays; a day that had come cannot be one, so it goes whatever its version: a
 * settlement may have stamped it since.
 */
export async function followRestore(pool: Pool, restore: Restore): Promise<void> {
  await withTransaction(pool, async (tx) => {
    const locked = await lockTableRetention(tx, restore);
    const rule = ruleAfterRestore(locked.rule, restore.restoredAt);
    const settled = settle({ rule, version: locked.version }, restore.version);
    if (rule === locked.rule && settled === null) {
      return;
    }
    await stampTable(tx, locked, settled ?? { rule, version: locked.version }, "restored");
    if (rule !== locked.rule) {
      await recordRemoval(tx, restore, locked);
    }
  });
}

async function recordRemoval(
  tx: Queryable,
  { tableId, tenant, name, environment, actor, traceparent }: Restore,
  { rule }: StoredTableRetention,
): Promise<void> {
  await appendDecision(
    tx,
    {
      service: SERVICE,
      tenant,
      actor,
      type: "TABLE_RETENTION_CLEARED",
      resource: { kind: "table", id: tableId, name, environment },
      outcome: "done",
      reason: "restored",
      details: {
        table_id: tableId,
        days: null,
        on: null,
        shortened: false,
        // As it was before the restore made the day void.
        previous: { ...ruleInForce({ kind: "managed", restoredAt: null }, rule, null) },
      },
      ...(traceparent !== undefined && { traceparent }),
    },
    await databaseClock(tx).now(),
  );
}
