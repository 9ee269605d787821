import { CommitOperation, type Table } from "@lapse/proto/catalog";
import { TableKind } from "@lapse/proto/events";
import { aName, type Lab } from "./lab.ts";
import { type LabFile, putFile } from "./table-files.ts";

export const tableById = (value: string) =>
  ({ table: { ref: { case: "tableId", value } } }) as const;

export const tableByName = ({ environment, namespace, name }: TablePlace) =>
  ({ table: { ref: { case: "name", value: { environment, namespace, name } } } }) as const;

export interface TablePlace {
  readonly environment: string;
  readonly namespace: string;
  readonly name: string;
}

/** What an answer must hold. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the answer lacks what was asked for");
  return value;
}

/** A new environment of tenant `local`; gives its name. */
export async function newEnvironment(lab: Lab): Promise<string> {
  const name = aName().replace("t_", "env-");
  await lab.asPerson("root", "admin").createEnvironment({ name });
  return name;
}

export const newPlace = (environment: string, namespace = "bronze"): TablePlace => ({
  environment,
  namespace,
  name: aName(),
});

/** A live, empty table that ana owns, or of another kind. */
export async function liveTable(
  lab: Lab,
  place: TablePlace,
  kind: TableKind = TableKind.MANAGED,
): Promise<Table> {
  const columns = [{ name: "id", type: "BIGINT", required: true }];
  const answer = await lab.asPerson("ana").createTable({ name: place, kind, columns });
  return present(answer.table);
}

export async function stagedTable(lab: Lab, place: TablePlace): Promise<Table> {
  return present((await lab.asPerson("ana").createTable({ name: place, staged: true })).table);
}

/** A live table of ana's with files of ten rows each. */
export async function filledTable(lab: Lab, place: TablePlace, fileCount = 1): Promise<Table> {
  const table = await stagedTable(lab, place);
  const files: LabFile[] = [];
  for (let index = 0; index < fileCount; index++) files.push(await putFile(lab.store, table));
  const answer = await lab.asPerson("ana").commitTable({
    ...tableById(table.tableId),
    operation: CommitOperation.APPEND,
    files,
  });
  return present(answer.table);
}

/** The table as it is now, whatever its state. */
export async function tableNow(lab: Lab, tableId: string): Promise<Table> {
  return present((await lab.asPerson("ana").getTable(tableById(tableId))).table);
}
