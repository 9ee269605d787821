import { exhausted, invalid } from "@lapse/kit";
import {
  bytesOf,
  conditionFault,
  MAX_FILTER_BYTES,
  MAX_FILTERS,
  type RowFilter,
} from "../domain/row-filter.ts";
import { qualifiedName } from "../domain/table.ts";
import { deleteFilter, saveFilter } from "../store/table-access.ts";
import { type AccessCall, changeAccess, requireRoom } from "./change-table-access.ts";
import type { CatalogDeps } from "./deps.ts";
import type { TableRef } from "./find-table.ts";
import { policyColumn } from "./policy-column.ts";

/** More than that are counted in the audit log, not listed. */
const RECORDED_BYTES = 16 * 1024;

export type NewFilter = Omit<RowFilter, "setBy" | "setAt">;

/**
 * Sets the filter of that name, in place of the one before. The same one again changes nothing.
 *
 * @throws invalid `COLUMN_NOT_FOUND`, `FILTER_INVALID`; exhausted `TOO_MANY_RULES`; precondition `TABLE_DROPPED`.
 */
export const setRowFilter = <A>(
  deps: CatalogDeps,
  call: AccessCall<A>,
  { table: ref, filter }: { readonly table: TableRef; readonly filter: NewFilter },
): Promise<A> =>
  changeAccess(deps, call, ref, async ({ tx, now, caller, table, access }) => {
    const column = policyColumn(table, "/filter/column", filter.column);
    const violations = conditionFault(column, filter);
    if (violations[0]) {
      const { field, description } = violations[0];
      throw invalid("FILTER_INVALID", `${field}: ${description}`, { violations });
    }
    const before = access.filters.find(({ name }) => name === filter.name);
    if (before && isSame(before, filter)) return undefined;
    const others = access.filters.filter(({ name }) => name !== filter.name);
    requireRoom(table, "row filters", others.length, MAX_FILTERS);
    const bytes = [filter, ...others].reduce((sum, { values }) => sum + bytesOf(values), 0);
    if (bytes > MAX_FILTER_BYTES) throw tooLarge(qualifiedName(table));
    const setBy = caller.principal.subject;
    await saveFilter(tx, table.tableId, { ...filter, setBy, setAt: now });
    return {
      type: "ROW_FILTER_SET",
      details: { ...details(filter), replaced: before !== undefined },
    };
  });

/** Removes the filter of that name. One that is not there is fine. */
export const removeRowFilter = <A>(
  deps: CatalogDeps,
  call: AccessCall<A>,
  { table: ref, name }: { readonly table: TableRef; readonly name: string },
): Promise<A> =>
  changeAccess(deps, call, ref, async ({ tx, table, access }) => {
    const before = access.filters.find((filter) => filter.name === name);
    if (!before) return undefined;
    await deleteFilter(tx, table.tableId, name);
    return { type: "ROW_FILTER_REMOVED", details: details(before) };
  });

const isSame = (a: NewFilter, b: NewFilter): boolean =>
  JSON.stringify(details(a)) === JSON.stringify(details(b)) &&
  JSON.stringify(a.values) === JSON.stringify(b.values);

const details = ({ name, appliesTo, column, operator, values }: NewFilter) => ({
  name,
  applies_to: appliesTo,
  column,
  operator,
  ...(bytesOf(values) <= RECORDED_BYTES ? { values: [...values] } : { value_count: values.length }),
});

const tooLarge = (table: string) =>
  exhausted(
    "TOO_MANY_RULES",
    `the row filters of table ${table} would have more than ${MAX_FILTER_BYTES} bytes of values; filter by a column with fewer`,
  );
