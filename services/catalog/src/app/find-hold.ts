import type { Principal, Queryable } from "@lapse/kit";
import type { Hold } from "../domain/hold.ts";
import { findHold } from "../store/holds.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { lockTable } from "../store/tables.ts";
import { isInTenant } from "./find-environment.ts";

/** A hold with its table. */
export interface HeldTable {
  readonly hold: Hold;
  readonly entry: TableInEnvironment;
}

/** The hold in the caller's tenant, its table's row locked against a drop; undefined when it is gone. */
export async function lockHeldTable(
  tx: Queryable,
  principal: Principal,
  holdId: string,
): Promise<HeldTable | undefined> {
  const hold = await findHold(tx, holdId);
  if (!hold || !isInTenant(principal, hold.tenant)) return undefined;
  const entry = await lockTable(tx, hold.tableId, "share");
  return entry && { hold, entry };
}

/** Whether the hold is this principal's own; a service that acts for nobody may see to any. */
export const isHolder = (principal: Principal, hold: Hold): boolean =>
  principal.kind === "service" || principal.subject === hold.holder;
