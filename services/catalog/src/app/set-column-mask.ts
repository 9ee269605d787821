import { type ColumnMask, MAX_MASKS } from "../domain/column-mask.ts";
import { deleteMask, saveMask } from "../store/table-access.ts";
import { type AccessCall, changeAccess, requireRoom } from "./change-table-access.ts";
import type { CatalogDeps } from "./deps.ts";
import type { TableRef } from "./find-table.ts";
import { policyColumn } from "./policy-column.ts";

export type NewMask = Omit<ColumnMask, "setBy" | "setAt">;

/**
 * Sets the mask of that column for whom it applies to, in place of the one before. The same one again changes nothing.
 *
 * @throws invalid `COLUMN_NOT_FOUND`; exhausted `TOO_MANY_RULES`; precondition `TABLE_DROPPED`.
 */
export const setColumnMask = <A>(
  deps: CatalogDeps,
  call: AccessCall<A>,
  { table: ref, mask }: { readonly table: TableRef; readonly mask: NewMask },
): Promise<A> =>
  changeAccess(deps, call, ref, async ({ tx, now, caller, table, access }) => {
    policyColumn(table, "/mask/column", mask.column);
    const before = access.masks.find((each) => isOfSame(each, mask));
    if (before?.mask === mask.mask) return undefined;
    if (!before) requireRoom(table, "column masks", access.masks.length, MAX_MASKS);
    await saveMask(tx, table.tableId, { ...mask, setBy: caller.principal.subject, setAt: now });
    const previous = before ? { previous: before.mask } : {};
    return { type: "COLUMN_MASK_SET", details: { ...details(mask), ...previous } };
  });

/** Removes the mask of that column for whom it applies to. One that is not there is fine. */
export const removeColumnMask = <A>(
  deps: CatalogDeps,
  call: AccessCall<A>,
  { table: ref, ...key }: { readonly table: TableRef } & Pick<NewMask, "column" | "appliesTo">,
): Promise<A> =>
  changeAccess(deps, call, ref, async ({ tx, table, access }) => {
    const before = access.masks.find((each) => isOfSame(each, key));
    if (!before) return undefined;
    await deleteMask(tx, table.tableId, key);
    return { type: "COLUMN_MASK_REMOVED", details: details(before) };
  });

type MaskKey = Pick<NewMask, "column" | "appliesTo">;

const isOfSame = (a: MaskKey, b: MaskKey): boolean =>
  a.column === b.column && a.appliesTo === b.appliesTo;

const details = ({ column, appliesTo, mask }: NewMask) => ({ column, applies_to: appliesTo, mask });
