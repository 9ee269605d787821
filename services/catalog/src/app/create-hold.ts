import { exhausted, newId } from "@lapse/kit";
import { type Hold, type HoldKind, MAX_HOLDS_PER_TABLE } from "../domain/hold.ts";
import { qualifiedName } from "../domain/table.ts";
import { requirePresent } from "../domain/table-changes.ts";
import { activeHolds, insertHold } from "../store/holds.ts";
import { type Call, change } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { requireLockedTable, type TableRef } from "./find-table.ts";
import { unlessRefused } from "./refused.ts";

/**
 * Keeps a table from being dropped until the hold ends (T21). The table's row is locked against a drop while the hold is
 * stored, so a drop either sees the hold or comes before it, and then this is refused.
 *
 * @throws exhausted `TOO_MANY_HOLDS`.
 */
export const createHold = <A>(
  deps: CatalogDeps,
  call: Call<Hold, A>,
  input: { readonly table: TableRef; readonly kind: HoldKind },
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal } = call;
    const entry = await requireLockedTable(tx, principal, input.table, "table.write", {
      lock: "share",
      shown: false,
    });
    const { tableId, tenant } = unlessRefused(requirePresent(entry.table));
    if ((await activeHolds(tx, tableId, now)).length >= MAX_HOLDS_PER_TABLE) {
      throw exhausted(
        "TOO_MANY_HOLDS",
        `table ${qualifiedName(entry.table)} has ${MAX_HOLDS_PER_TABLE} holds already; release those that are not needed`,
      );
    }
    const hold: Hold = {
      holdId: newId(),
      tableId,
      tenant,
      kind: input.kind,
      holder: principal.subject,
      createdAt: now,
      expiresAt: new Date(now.getTime() + deps.holdTtlMs),
    };
    await insertHold(tx, hold);
    return hold;
  });
