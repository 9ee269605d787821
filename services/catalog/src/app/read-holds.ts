import type { Hold } from "../domain/hold.ts";
import { activeHolds } from "../store/holds.ts";
import { transactionTime } from "../store/now.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { requireTable, type TableRef } from "./find-table.ts";

/** The holds on a table that have not ended, the one that lasts longest first; at most as many as a table can have. */
export const holdsOfTable = (
  deps: CatalogDeps,
  caller: Caller,
  ref: TableRef,
): Promise<readonly Hold[]> =>
  recordingRefusals(deps, caller, async () => {
    const { table } = await requireTable(deps.pool, caller.principal, ref, "table.read", {
      shown: false,
    });
    return activeHolds(deps.pool, table.tableId, await transactionTime(deps.pool));
  });
