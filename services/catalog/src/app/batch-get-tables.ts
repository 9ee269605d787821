import { findLiveTablesNamed, findTables } from "../store/table-batches.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import type { Caller } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { type TableWithRights, withTableRights } from "./effective-rights.ts";
import { isInTenant, tenantOf } from "./find-environment.ts";
import type { TableRef } from "./find-table.ts";

/** A table, and the place of its reference in the request. */
export interface FoundTable {
  readonly index: number;
  readonly entry: TableWithRights;
}

type NameRef = Extract<TableRef, { kind: "name" }>;

/**
 * The tables of many references at once, as `getTable` finds each. What is not there, or not to be read by the caller, is
 * left out and recorded nowhere: whoever resolves a list of names asks for what may not be there. Two statements find
 * them, whatever their number.
 *
 * @throws invalid `TENANT_REQUIRED` for names from a service that acts for nobody.
 */
export async function batchGetTables(
  { pool }: CatalogDeps,
  { principal }: Pick<Caller, "principal">,
  refs: readonly TableRef[],
): Promise<FoundTable[]> {
  const ids = refs.flatMap((ref) => (ref.kind === "id" ? [ref.tableId] : []));
  const names = refs.filter((ref): ref is NameRef => ref.kind === "name");
  const byId = ids.length > 0 ? await findTables(pool, ids) : [];
  const byName =
    names.length > 0 ? await findLiveTablesNamed(pool, tenantOf(principal), names) : [];
  const visible = byId.filter(
    ({ table }) => isInTenant(principal, table.tenant) && table.state !== "purged",
  );
  const allowed = await withTableRights(pool, principal, unique([...visible, ...byName]));
  const found = new Map<string, TableWithRights>();
  for (const entry of allowed) {
    if (!entry.rights.includes("table.read")) continue;
    found.set(entry.table.tableId, entry);
    if (entry.table.state === "live") found.set(nameKey(entry), entry);
  }
  return refs.flatMap((ref, index) => {
    const entry = found.get(ref.kind === "id" ? ref.tableId.toLowerCase() : refKey(ref));
    return entry ? [{ index, entry }] : [];
  });
}

const unique = (entries: readonly TableInEnvironment[]): TableInEnvironment[] => [
  ...new Map(entries.map((entry) => [entry.table.tableId, entry])).values(),
];

/** No part of a name holds a slash. */
const refKey = ({ environment, namespace, name }: NameRef): string =>
  `${environment}/${namespace}/${name}`;

const nameKey = ({ table, environment }: TableInEnvironment): string =>
  `${environment.name}/${table.namespace}/${table.name}`;
