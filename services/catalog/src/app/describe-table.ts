import { appendEvent } from "@lapse/kit";
import { describeTable as describe } from "../domain/table-changes.ts";
import { tableChanged } from "../events/table-events.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { saveTable } from "../store/tables.ts";
import { requireTableRight } from "./access.ts";
import { type Call, change } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { requireLockedTable, type TableRef } from "./find-table.ts";
import { unlessRefused } from "./refused.ts";

/** Changes a table's description, which is activity (T13). The one it has already changes nothing. */
export const describeTable = <A>(
  deps: CatalogDeps,
  call: Call<TableInEnvironment, A>,
  input: { readonly table: TableRef; readonly description: string },
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const before = await requireLockedTable(tx, principal, input.table);
    requireTableRight(principal, before, "table.write");
    const table = unlessRefused(describe(before.table, input.description, now));
    if (table === before.table) return before;
    const after = { ...before, table };
    await saveTable(tx, table);
    await appendEvent(
      tx,
      tableChanged(after, "described", { actor: principal.subject, traceparent }),
    );
    return after;
  });
