import { alreadyExists, appendEvent, conflict, invalid, newId, type Queryable } from "@lapse/kit";
import { type Commit, type CommitOperation, decideCommit } from "../domain/commit.ts";
import type { DataFile } from "../domain/data-file.ts";
import { keepPolicyColumns } from "../domain/policies.ts";
import { type Column, qualifiedName } from "../domain/table.ts";
import { tableChanged, tableCreated } from "../events/table-events.ts";
import { addFiles, knownFiles, removeOtherFiles } from "../store/files.ts";
import { deleteHold } from "../store/holds.ts";
import { insertSnapshot } from "../store/snapshots.ts";
import { type FileFault, findFileFaults } from "../store/stored-files.ts";
import { tablePolicies } from "../store/table-access.ts";
import { saveTable } from "../store/tables.ts";
import { type Call, type Caller, change } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import type { TableWithRights } from "./effective-rights.ts";
import { peekTable, requireLockedTable, type TableRef } from "./find-table.ts";
import { placeTable } from "./place-table.ts";
import { unlessRefused } from "./refused.ts";
import { recordTableCreated } from "./table-decisions.ts";

export interface CommitRequest {
  readonly table: TableRef;
  readonly operation: CommitOperation;
  readonly files: readonly DataFile[];
  /** Undefined: whatever the version. */
  readonly expectedChangeVersion: bigint | undefined;
  /** Undefined: unchanged. */
  readonly columns: readonly Column[] | undefined;
  /** The writer's own hold, ended with the commit; one that has ended before is fine. */
  readonly holdId: string | undefined;
}

/**
 * Adds or replaces a table's files, or makes a staged table live with them. The files are looked at in the object store
 * before the transaction; a table's location never changes, so what was found holds for whatever is locked then.
 *
 * @throws invalid `FILES_MISSING`; already_exists `NAME_TAKEN` at a first commit; precondition
 *   `COLUMN_IN_POLICY`; what `decideCommit` refuses.
 */
export async function commitTable<A>(
  deps: CatalogDeps,
  call: Call<TableWithRights, A>,
  input: CommitRequest,
): Promise<A> {
  const checked = await checkFiles(deps, call, input);
  return change(deps, call, async (tx, now) => {
    // Only an id finds a staged table, which gets its name by its first commit.
    const before = await requireLockedTable(tx, call.principal, input.table, "table.write", {
      naming: input.table.kind === "id",
    });
    const { tableId } = before.table;
    const commit = unlessRefused(
      decideCommit({
        ...input,
        table: before.table,
        known: await knownFiles(
          tx,
          tableId,
          input.files.map(({ path }) => path),
        ),
        snapshotId: newId(),
        now,
      }),
    );
    if (input.columns) {
      const policies = await tablePolicies(tx, tableId);
      unlessRefused(keepPolicyColumns(before.table, input.columns, policies));
    }
    if (checked?.tableId !== tableId) throw anotherTable(input.table);
    if (checked.faults.length > 0) throw filesMissing(input.files, checked.faults);
    return store(tx, call, { input, commit, before, now });
  });
}

interface CheckedFiles {
  readonly tableId: string;
  readonly faults: readonly FileFault[];
}

/** Undefined where the transaction will refuse the commit anyway, with the reason. */
async function checkFiles(
  deps: CatalogDeps,
  { principal, signal }: Caller,
  input: CommitRequest,
): Promise<CheckedFiles | undefined> {
  const entry = await peekTable(deps.pool, principal, input.table, "table.write");
  if (!entry) return undefined;
  const { tableId, location } = entry.table;
  if (!location) return { tableId, faults: [] };
  return { tableId, faults: await findFileFaults(deps.objectStore, location, input.files, signal) };
}

async function store(
  tx: Queryable,
  call: Caller,
  {
    input,
    commit: { table: written, added, kept, first },
    before,
    now,
  }: { input: CommitRequest; commit: Commit; before: TableWithRights; now: Date },
): Promise<TableWithRights> {
  const { tableId, contents } = written;
  const table = first
    ? await placeTable(tx, written, { actor: call.principal.subject, now })
    : written;
  const sequence = contents.snapshotSequence;
  await insertSnapshot(tx, {
    ...contents,
    snapshotId: contents.snapshotId ?? newId(),
    tableId,
    operation: input.operation,
    createdBy: call.principal.subject,
    createdAt: now,
  });
  if (kept) await removeOtherFiles(tx, { tableId, sequence, kept, now });
  await addFiles(tx, tableId, sequence, added);
  if (input.holdId !== undefined) {
    const { kind, subject } = call.principal;
    const holder = kind === "service" ? undefined : subject;
    await deleteHold(tx, { tableId, holdId: input.holdId, holder });
  }
  if (!(await saveTable(tx, table))) throw nameTaken(table);
  const after = { ...before, table };
  const origin = { actor: call.principal.subject, traceparent: call.traceparent };
  if (first) {
    await appendEvent(tx, tableCreated(after, origin));
    await recordTableCreated(tx, now, after, call);
  } else {
    await appendEvent(
      tx,
      tableChanged(after, input.operation === "maintain" ? "maintained" : "written", origin),
    );
  }
  return after;
}

const SHOWN_FAULTS = 20;

function filesMissing(files: readonly DataFile[], faults: readonly FileFault[]) {
  const places = new Map(files.map(({ path }, index) => [path, index]));
  return invalid(
    "FILES_MISSING",
    `${faults.length} of ${files.length} files cannot be committed; write them whole before the commit`,
    {
      violations: faults.slice(0, SHOWN_FAULTS).map(({ path, fault }) => ({
        field: `/files/${places.get(path)}`,
        description: `${path} ${fault}`,
      })),
    },
  );
}

/** Between the look at the files and the lock, the name went to another table. */
const anotherTable = (ref: TableRef) =>
  conflict(
    "TABLE_CHANGED",
    `${ref.kind === "name" ? `${ref.namespace}.${ref.name}` : ref.tableId} is another table now; read it again and redo the write`,
  );

const nameTaken = (table: TableWithRights["table"]) =>
  alreadyExists(
    "NAME_TAKEN",
    `the name ${qualifiedName(table)} was taken while this table was written; create it under another name, or write into that one`,
  );
