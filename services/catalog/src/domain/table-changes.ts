import { accept, type Decided, refuse } from "./refusal.ts";
import { qualifiedName, type Table } from "./table.ts";

type Patch = Partial<Omit<Table, "tableId" | "changeVersion" | "lastChangedAt">>;

/** A change that counts as activity (T13). Time only moves forward, whatever the clock says. */
export const activeChange = (table: Table, now: Date, patch: Patch): Table => ({
  ...quietChange(table, patch),
  lastChangedAt: now > table.lastChangedAt ? now : table.lastChangedAt,
});

/** A change that is no activity: of the state, on the way out. */
export const quietChange = (table: Table, patch: Patch): Table => ({
  ...table,
  ...patch,
  changeVersion: table.changeVersion + 1n,
});

/** Announces a change of the table's retention, which is activity (T5), also before the first commit. */
export function touchTable(table: Table, now: Date): Decided<Table> {
  const present = requirePresent(table);
  if (!present.ok) return present;
  const touched = activeChange(table, now, {});
  return accept({ ...touched, retentionVersion: touched.changeVersion });
}

/** Gives it another description; the same object when it has this one already. */
export function describeTable(table: Table, description: string, now: Date): Decided<Table> {
  const present = requirePresent(table);
  if (!present.ok) return present;
  return accept(
    table.description === description ? table : activeChange(table, now, { description }),
  );
}

/** Only a staged or live table can be changed; a refusal says what became of it. */
export function requirePresent(table: Table): Decided<Table> {
  const name = qualifiedName(table);
  switch (table.state) {
    case "staged":
    case "live":
      return accept(table);
    case "dropped":
      return refuse(
        "precondition",
        "TABLE_DROPPED",
        `table ${name} has been dropped; bring it back with undrop first`,
        { details: { table_id: table.tableId } },
      );
    case "purging":
      return refuse(
        "precondition",
        "TABLE_PURGING",
        `table ${name} is gone and its files are being deleted; create a new one`,
        { details: { table_id: table.tableId } },
      );
    case "purged":
      return refuse("not_found", "TABLE_NOT_FOUND", `there is no table ${table.tableId} any more`);
  }
}
