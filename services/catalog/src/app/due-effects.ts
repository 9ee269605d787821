import { appendEvents, type Queryable } from "@lapse/kit";
import type { ExpiredRetention, KeptReason, Settle } from "../domain/due.ts";
import { tableDropped, tableKept } from "../events/table-events.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { saveDrops } from "../store/tables.ts";
import { tableResource } from "./access.ts";
import { appendCatalogDecisions } from "./decision.ts";
import type { DueEvent } from "./due-event.ts";
import { retentionDetails } from "./retention-details.ts";

/** A table to be dropped: `entry` as it is afterwards. */
export interface DroppedTable extends DueEvent {
  readonly entry: TableInEnvironment;
  readonly retention: ExpiredRetention;
}

/** A due event that leads to no drop; without an entry there is no such table. */
export interface KeptTable extends DueEvent {
  readonly entry: TableInEnvironment | undefined;
  readonly reason: KeptReason;
  readonly detail?: string;
  readonly settle?: Settle;
  readonly outcome: "kept" | "failed";
}

/** Drops tables whose rows this transaction has locked, each with its event and its decision (T27, T32). */
export async function writeDrops(
  tx: Queryable,
  now: Date,
  drops: readonly DroppedTable[],
): Promise<void> {
  if (drops.length === 0) return;
  await saveDrops(
    tx,
    drops.map(({ entry }) => entry.table),
  );
  await appendEvents(
    tx,
    drops.map(({ entry, due, traceparent }) =>
      tableDropped(entry, { sweepId: due.sweepId, traceparent }),
    ),
  );
  await appendCatalogDecisions(
    tx,
    now,
    drops.map(({ entry, due, traceparent, retention }) => ({
      type: "TABLE_DROPPED",
      tenant: entry.table.tenant,
      resource: tableResource(entry),
      outcome: "done",
      reason: "retention",
      details: {
        retention: retentionDetails(retention),
        undo_until: entry.table.drop?.undoUntil.toISOString() ?? "",
      },
      runId: due.sweepId,
      traceparent,
    })),
  );
}

/** Says of each due event why it dropped nothing, to the sweep and to the audit log. */
export async function writeKept(
  tx: Queryable,
  now: Date,
  kept: readonly KeptTable[],
): Promise<void> {
  if (kept.length === 0) return;
  await appendEvents(
    tx,
    kept.map(({ due, traceparent, reason, detail }) =>
      tableKept(due, { reason, detail }, { traceparent }),
    ),
  );
  await appendCatalogDecisions(
    tx,
    now,
    kept.map(({ due, traceparent, reason, detail, entry, outcome }) => ({
      type: "TABLE_KEPT",
      tenant: due.tenant,
      resource:
        entry && entry.table.tenant === due.tenant
          ? tableResource(entry)
          : { kind: "table", id: due.tableId, name: "", environment: "" },
      outcome,
      reason,
      details: detail === undefined ? {} : { detail },
      runId: due.sweepId,
      traceparent,
    })),
  );
}
