import { exhausted, type Queryable } from "@lapse/kit";
import { qualifiedName, type Table } from "../domain/table.ts";
import { requirePresent } from "../domain/table-changes.ts";
import { type TableAccess, tableAccess } from "../store/table-access.ts";
import { tableResource } from "./access.ts";
import { type Call, type Caller, change } from "./call.ts";
import { appendCatalogDecision, type CatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import type { TableWithRights } from "./effective-rights.ts";
import { requireLockedTable, type TableRef } from "./find-table.ts";
import { unlessRefused } from "./refused.ts";

/** A table and everything that is set on it. */
export type TableWithAccess = TableWithRights & { readonly access: TableAccess };

export type AccessCall<A> = Call<TableWithAccess, A>;

/** What was done, for the audit log; undefined: it was so already. */
export type AccessChange = Pick<CatalogDecision, "type" | "details"> | undefined;

/** What a change of access works with: the table's row is locked, and nothing else changes what is set on it. */
export interface AccessTransaction {
  readonly tx: Queryable;
  readonly now: Date;
  readonly caller: Caller;
  readonly table: Table;
  /** What is set on it before. */
  readonly access: TableAccess;
}

/**
 * Changes what is set on a table, for its owner or whoever manages access there, and gives all that is set after it.
 * It is no activity and moves no version: a drop does not depend on it.
 *
 * @throws precondition `TABLE_DROPPED` while the table is dropped.
 */
export const changeAccess = <A>(
  deps: CatalogDeps,
  call: AccessCall<A>,
  ref: TableRef,
  work: (at: AccessTransaction) => Promise<AccessChange>,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const entry = await requireLockedTable(tx, principal, ref, "access.manage");
    const table = unlessRefused(requirePresent(entry.table));
    const { tableId, tenant } = table;
    const before = await tableAccess(tx, tableId);
    const done = await work({ tx, now, caller: call, table, access: before });
    if (!done) return { ...entry, access: before };
    await appendCatalogDecision(tx, now, {
      ...done,
      tenant,
      actor: principal.subject,
      resource: tableResource(entry),
      outcome: "done",
      reason: "request",
      traceparent,
    });
    return { ...entry, access: await tableAccess(tx, tableId) };
  });

/** @throws exhausted `TOO_MANY_RULES` when one more would be more than a table can have. */
export function requireRoom(table: Table, what: string, count: number, most: number): void {
  if (count < most) return;
  throw exhausted(
    "TOO_MANY_RULES",
    `table ${qualifiedName(table)} has ${most} ${what} already; remove those that are not needed, or use a role`,
  );
}
