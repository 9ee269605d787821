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

/** What somebody wants changed; undefined: as it is. */
export interface TableUpdate {
  readonly description?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Gives it another description, name or namespace: one change, which is activity (T13). The same object when it has all
 * of it already. Its files stay where they are: a location holds the table's id, not its name.
 */
export function updateTable(table: Table, update: TableUpdate, now: Date): Decided<Table> {
  const present = requirePresent(table);
  if (!present.ok) return present;
  const patch = {
    description: update.description ?? table.description,
    namespace: update.namespace ?? table.namespace,
    name: update.name ?? table.name,
  };
  const same = patch.description === table.description && !isRenamed(table, patch);
  return accept(same ? table : activeChange(table, now, patch));
}

/** Whether the two have another name or namespace. */
export const isRenamed = (
  before: Pick<Table, "namespace" | "name">,
  after: Pick<Table, "namespace" | "name">,
): boolean => before.namespace !== after.namespace || before.name !== after.name;

/** It became an asset of a project, or is none any more (T20): no activity. Which project is read with the table. */
export const flipAsset = (table: Table): Table =>
  quietChange(table, { projectAsset: !table.projectAsset, assetOf: "" });

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
