import { appendEvent } from "@lapse/kit";
import { dropByRequest } from "../domain/drop.ts";
import { tableChanged, tableDropped } from "../events/table-events.ts";
import { activeHolds } from "../store/holds.ts";
import { queuePurge } from "../store/purges.ts";
import { saveTable } from "../store/tables.ts";
import { tableResource } from "./access.ts";
import { type Call, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { type TableWithRights, withRightsOn } from "./effective-rights.ts";
import { requireLockedTable, type TableRef } from "./find-table.ts";
import { unlessRefused } from "./refused.ts";

/**
 * Drops a table because somebody asked; its files stay for the undo period. A staged table is given up for good.
 *
 * @throws precondition `TABLE_HELD` while a write runs, `TABLE_DROPPED` when it is gone already.
 */
export async function dropTable<A>(
  deps: CatalogDeps,
  call: Call<TableWithRights, A>,
  ref: TableRef,
): Promise<A> {
  let counted = false;
  const answer = await change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const before = await requireLockedTable(tx, principal, ref, "table.drop");
    const table = unlessRefused(
      dropByRequest({
        table: before.table,
        holds: await activeHolds(tx, before.table.tableId, now),
        actor: principal.subject,
        now,
        undo: deps.undo,
      }),
    );
    const after = await withRightsOn(tx, principal, { ...before, table });
    await saveTable(tx, table);
    const origin = { actor: principal.subject, traceparent };
    if (!table.drop) {
      await queuePurge(tx, table.tableId, now);
      await appendEvent(tx, tableChanged(after, "state", origin));
      return after;
    }
    await appendEvent(tx, tableDropped(after, origin));
    await appendCatalogDecision(tx, now, {
      type: "TABLE_DROPPED",
      tenant: table.tenant,
      actor: principal.subject,
      resource: tableResource(after),
      outcome: "done",
      reason: "request",
      details: { undo_until: table.drop.undoUntil.toISOString() },
      traceparent,
    });
    counted = true;
    return after;
  });
  if (counted) deps.metrics.dropped("request");
  return answer;
}
