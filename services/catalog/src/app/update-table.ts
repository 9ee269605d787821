import { alreadyExists, appendEvent, type Queryable } from "@lapse/kit";
import { qualifiedName, type Table } from "../domain/table.ts";
import { isRenamed, type TableUpdate, updateTable as update } from "../domain/table-changes.ts";
import { tableChanged } from "../events/table-events.ts";
import { saveTable } from "../store/tables.ts";
import { requireTableRight, tableResource } from "./access.ts";
import { type Call, type Caller, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import type { TableWithRights } from "./effective-rights.ts";
import { requireLockedTable, type TableRef } from "./find-table.ts";
import { placeTable } from "./place-table.ts";
import { unlessRefused } from "./refused.ts";

export interface UpdateRequest extends TableUpdate {
  readonly table: TableRef;
}

/**
 * Changes a table's description, name or namespace, which is activity (T13): a due event issued before keeps it. What it
 * has already changes nothing. A description needs the right to write; another name the right to drop, since the table
 * is gone under its former one. Files, grants, retention and holds are the table's, not its name's, and stay.
 *
 * @throws already_exists `NAME_TAKEN` by a live table; precondition `TABLE_DROPPED`.
 */
export const updateTable = <A>(
  deps: CatalogDeps,
  call: Call<TableWithRights, A>,
  { table: ref, ...wanted }: UpdateRequest,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal } = call;
    const naming = wanted.name !== undefined || wanted.namespace !== undefined;
    const first = wanted.description === undefined ? "table.drop" : "table.write";
    const before = await requireLockedTable(tx, principal, ref, first, { naming });
    if (naming) requireTableRight(principal, before, "table.drop");
    const updated = unlessRefused(update(before.table, wanted, now));
    if (updated === before.table) return before;
    return isRenamed(before.table, updated)
      ? rename(tx, call, { before, updated, now })
      : describe(tx, call, { before, updated });
  });

interface Change {
  readonly before: TableWithRights;
  readonly updated: Table;
}

async function describe(
  tx: Queryable,
  { principal, traceparent }: Caller,
  { before, updated }: Change,
): Promise<TableWithRights> {
  const after = { ...before, table: updated };
  await saveTable(tx, updated);
  await appendEvent(
    tx,
    tableChanged(after, "described", { actor: principal.subject, traceparent }),
  );
  return after;
}

async function rename(
  tx: Queryable,
  { principal, traceparent }: Caller,
  { before, updated, now }: Change & { readonly now: Date },
): Promise<TableWithRights> {
  const actor = principal.subject;
  const table = await placeTable(tx, updated, { actor, now });
  if (!(await saveTable(tx, table))) throw nameTaken(table);
  const after = { ...before, table };
  await appendEvent(tx, tableChanged(after, "renamed", { actor, traceparent }));
  await appendCatalogDecision(tx, now, {
    type: "TABLE_RENAMED",
    tenant: table.tenant,
    actor,
    resource: tableResource(after),
    outcome: "done",
    reason: "request",
    details: { former_name: qualifiedName(before.table) },
    traceparent,
  });
  return after;
}

const nameTaken = (table: Table) =>
  alreadyExists(
    "NAME_TAKEN",
    `there is a table ${qualifiedName(table)} already; choose another name, or rename or drop that one first`,
  );
