import { appendEvent } from "@lapse/kit";
import { touchTable as touch } from "../domain/table-changes.ts";
import { tableChanged } from "../events/table-events.ts";
import { saveTable } from "../store/tables.ts";
import { type Call, change } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import type { TableWithRights } from "./effective-rights.ts";
import { requireLockedTable, type TableRef } from "./find-table.ts";
import { unlessRefused } from "./refused.ts";

/**
 * Orders a coming change of a table's retention against its drop: from its commit on, no due event issued before drops
 * it. Counts as activity (T5), so by itself it only makes the table expire later: the owner and whoever may write or
 * drop it may do it. Which of them may set which retention (T6) is judged by retention-policy, before it touches.
 */
export const touchTable = <A>(
  deps: CatalogDeps,
  call: Call<TableWithRights, A>,
  ref: TableRef,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const before = await requireLockedTable(tx, principal, ref, ["table.write", "table.drop"]);
    const after = { ...before, table: unlessRefused(touch(before.table, now)) };
    await saveTable(tx, after.table);
    await appendEvent(
      tx,
      tableChanged(after, "touched", { actor: principal.subject, traceparent }),
    );
    return after;
  });
