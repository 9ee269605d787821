import { accessApplies } from "../domain/effective-rights.ts";
import { tableAccess } from "../store/table-access.ts";
import { requireTableRight } from "./access.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { TableWithAccess } from "./change-table-access.ts";
import type { CatalogDeps } from "./deps.ts";
import { requireTable, type TableRef } from "./find-table.ts";

/**
 * Everything that is set on a table, for its owner or whoever manages access there. On a dropped one, found by its id,
 * none of it applies; then whoever may bring the table back sees what would come with it (T28).
 */
export const getTableAccess = (
  deps: CatalogDeps,
  caller: Caller,
  ref: TableRef,
): Promise<TableWithAccess> =>
  recordingRefusals(deps, caller, async () => {
    const { principal } = caller;
    const entry = await requireTable(deps.pool, principal, ref, ["access.manage", "table.drop"]);
    if (accessApplies(entry.table)) requireTableRight(principal, entry, "access.manage");
    return { ...entry, access: await tableAccess(deps.pool, entry.table.tableId) };
  });
