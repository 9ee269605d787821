import { accept, type Decided, refuse } from "./refusal.ts";
import { qualifiedName, type Table } from "./table.ts";
import { activeChange } from "./table-changes.ts";

/**
 * Brings a dropped table back: the same row, so everything it had, under `asName` where its name is taken (T28, T29).
 * Counts as activity and as a change of retention, so that it is not dropped again on what was known before.
 */
export function undropTable(table: Table, now: Date, asName?: string): Decided<Table> {
  const refusal = undropRefusal(table, now);
  if (refusal) return refusal;
  const restored = activeChange(table, now, {
    state: "live",
    name: asName ?? table.name,
    drop: null,
    restoredAt: now,
  });
  return accept({ ...restored, retentionVersion: restored.changeVersion });
}

function undropRefusal(table: Table, now: Date) {
  const name = qualifiedName(table);
  const details = { table_id: table.tableId };
  switch (table.state) {
    case "staged":
    case "live":
      return refuse("precondition", "TABLE_NOT_DROPPED", `table ${name} is not dropped`, {
        details,
      });
    case "purging":
      return refuse(
        "precondition",
        "TABLE_PURGING",
        `table ${name} cannot come back: its undo period is over and its files are being deleted`,
        { details },
      );
    case "purged":
      return refuse(
        "precondition",
        "UNDO_PERIOD_OVER",
        `table ${name} cannot come back: its undo period is over and its files are deleted`,
        { details },
      );
    case "dropped":
      return table.drop && now < table.drop.undoUntil
        ? undefined
        : refuse(
            "precondition",
            "UNDO_PERIOD_OVER",
            `table ${name} cannot come back: its undo period ended at ${table.drop?.undoUntil.toISOString()}`,
            { details },
          );
  }
}

/** What the caller is told when the files of a dropped table cannot all be read. */
export function filesMissing(table: Table, faults: readonly { path: string; fault: string }[]) {
  const [first] = faults;
  return refuse(
    "precondition",
    "FILES_MISSING",
    `table ${qualifiedName(table)} stays dropped: ${faults.length} of its ${table.contents.fileCount} files cannot be read; the first, ${first?.path}, ${first?.fault}`,
    {
      details: {
        table_id: table.tableId,
        unreadable_files: String(faults.length),
        first_file: first?.path ?? "",
      },
    },
  );
}
