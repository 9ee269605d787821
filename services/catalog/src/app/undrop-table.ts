import { alreadyExists, appendEvent, conflict, type LapseError, type Queryable } from "@lapse/kit";
import { qualifiedName, type Table } from "../domain/table.ts";
import { filesMissing, undropTable as undrop } from "../domain/undrop.ts";
import { tableRestored } from "../events/table-events.ts";
import { currentFiles } from "../store/files.ts";
import { type FileFault, findFileFaults } from "../store/stored-files.ts";
import { findLastDroppedTable, saveTable } from "../store/tables.ts";
import { tableResource } from "./access.ts";
import { type Call, type Caller, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { type TableWithRights, withRightsOn } from "./effective-rights.ts";
import { peekTable, requireLockedTable, type TableRef } from "./find-table.ts";
import { placeTable } from "./place-table.ts";
import { unlessRefused } from "./refused.ts";

export interface UndropRequest {
  /** By name: the generation dropped last. */
  readonly table: TableRef;
  /** The name it comes back under; undefined: its own. */
  readonly asName: string | undefined;
}

/**
 * Brings a dropped table back (T28). Its files are looked at in the object store before the transaction; while a table is
 * dropped nothing can change them, and once its purge has begun the transaction refuses.
 *
 * @throws precondition `UNDO_PERIOD_OVER`, `TABLE_PURGING`, `FILES_MISSING`; already_exists `NAME_TAKEN` (T29).
 */
export async function undropTable<A>(
  deps: CatalogDeps,
  call: Call<TableWithRights, A>,
  input: UndropRequest,
): Promise<A> {
  const checked = await checkFiles(deps, call, input);
  let counted = false;
  const answer = await change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const before = await requireLockedTable(tx, principal, input.table, "table.drop", {
      generation: "dropped",
      naming: true,
    });
    const restored = unlessRefused(undrop(before.table, now, input.asName));
    if (checked?.tableId !== restored.tableId) throw anotherGeneration(before.table);
    if (checked.faults.length > 0) unlessRefused(filesMissing(before.table, checked.faults));
    const table = await placeTable(tx, restored, { actor: principal.subject, now });
    if (!(await saveTable(tx, table))) throw nameTaken(table);
    if (await isOvertaken(tx, input.table, before.table)) throw anotherGeneration(before.table);
    const after = await withRightsOn(tx, principal, { ...before, table });
    await appendEvent(tx, tableRestored(after, { actor: principal.subject, traceparent }));
    await appendCatalogDecision(tx, now, {
      type: "TABLE_RESTORED",
      tenant: table.tenant,
      actor: principal.subject,
      resource: tableResource(after),
      outcome: "done",
      reason: "request",
      details: restoredDetails(before.table, table),
      traceparent,
    });
    counted = true;
    return after;
  });
  if (counted) deps.metrics.restored();
  return answer;
}

/**
 * Whether a younger generation of the name was dropped since this one was found to be the last. Looked at once this one
 * is back: that it could have its name means that no other has it any more.
 */
async function isOvertaken(tx: Queryable, ref: TableRef, table: Table): Promise<boolean> {
  if (ref.kind !== "name" || !table.drop) return false;
  const last = await findLastDroppedTable(tx, table);
  return last?.table.drop != null && last.table.drop.at >= table.drop.at;
}

interface CheckedFiles {
  readonly tableId: string;
  readonly faults: readonly FileFault[];
}

/** Undefined where the transaction will refuse the undrop anyway, with the reason. */
async function checkFiles(
  deps: CatalogDeps,
  { principal, signal }: Caller,
  { table: ref }: UndropRequest,
): Promise<CheckedFiles | undefined> {
  const entry = await peekTable(deps.pool, principal, ref, "table.drop", { generation: "dropped" });
  if (!entry) return undefined;
  const { tableId, location, state } = entry.table;
  if (!location || state !== "dropped") return { tableId, faults: [] };
  const files = await currentFiles(deps.pool, tableId);
  return { tableId, faults: await findFileFaults(deps.objectStore, location, files, signal) };
}

const restoredDetails = (before: Table, after: Table) => ({
  dropped_at: before.drop?.at.toISOString() ?? "",
  drop_reason: before.drop?.reason ?? "",
  ...(before.name === after.name ? {} : { former_name: qualifiedName(before) }),
});

/** Between the look at the files and the lock, a younger generation of the name was dropped. */
const anotherGeneration = (table: Table): LapseError =>
  conflict(
    "TABLE_CHANGED",
    `another table ${qualifiedName(table)} was dropped meanwhile; see the list of dropped tables and undrop by id`,
  );

const nameTaken = (table: Table): LapseError =>
  alreadyExists(
    "NAME_TAKEN",
    `there is a table ${qualifiedName(table)} already; bring this one back under another name with --as NEWNAME`,
    { details: { table_id: table.tableId } },
  );
