import { hasRight, type Principal, type Role } from "@lapse/kit";
import { type ColumnMask, type Mask, stricter } from "./column-mask.ts";
import { accept, type Decided, refuse } from "./refusal.ts";
import type { Condition, RowFilter } from "./row-filter.ts";
import { EVERYBODY, holdersOf } from "./subject.ts";
import { qualifiedName, type Table } from "./table.ts";
import { familyOf } from "./type-family.ts";

/** The row filters and column masks of a table. */
export interface Policies {
  readonly filters: readonly RowFilter[];
  readonly masks: readonly ColumnMask[];
}

/** What is left of them for one reader. */
export interface AppliedPolicies {
  /** All must hold for a row to be shown. */
  readonly filters: readonly Condition[];
  /** One at most for each column. */
  readonly masks: readonly { readonly column: string; readonly mask: Mask }[];
}

export const NO_POLICIES: AppliedPolicies = { filters: [], masks: [] };

/**
 * What applies to a reader who has `roles` where the table is: what names them, one of their roles, or everybody; of
 * several masks of one column the strictest. Nothing ever applies to the owner, to admins and to services.
 */
export function appliedPolicies(
  { filters, masks }: Policies,
  reader: Pick<Principal, "subject" | "kind">,
  { roles, owner }: { readonly roles: readonly Role[]; readonly owner: string },
): AppliedPolicies {
  if (isExempt(reader, { roles, owner })) return NO_POLICIES;
  const names = new Set([EVERYBODY, reader.subject, ...roles.map(holdersOf)]);
  const byColumn = new Map<string, Mask>();
  for (const { column, mask, appliesTo } of masks) {
    if (names.has(appliesTo)) byColumn.set(column, stricter(mask, byColumn.get(column) ?? mask));
  }
  return {
    filters: filters
      .filter(({ appliesTo }) => names.has(appliesTo))
      .map(({ column, operator, values }) => ({ column, operator, values })),
    masks: [...byColumn].map(([column, mask]) => ({ column, mask })),
  };
}

/** Who sees a table whole, whatever is set on it. */
export const isExempt = (
  { subject, kind }: Pick<Principal, "subject" | "kind">,
  { roles, owner }: { readonly roles: readonly Role[]; readonly owner: string },
): boolean => subject === owner || hasRight({ subject, kind, roles, tenant: "" }, "access.manage");

/**
 * Whether the table may get these columns: those that a filter or mask is on must stay what they are. Otherwise a column
 * under another name would show what its mask hid.
 */
export function keepPolicyColumns(
  table: Table,
  columns: Table["columns"],
  policies: Policies,
): Decided<Table["columns"]> {
  const after = new Map(columns.map(({ name, type }) => [name, familyOf(type)]));
  const before = new Map(table.columns.map(({ name, type }) => [name, familyOf(type)]));
  const used = new Set([...policies.filters, ...policies.masks].map(({ column }) => column));
  const lost = [...used].filter((column) => after.get(column) !== before.get(column)).sort();
  if (lost.length === 0) return accept(columns);
  return refuse(
    "precondition",
    "COLUMN_IN_POLICY",
    `column ${lost.join(", ")} of ${qualifiedName(table)} has a row filter or column mask and cannot be left out or change its type; remove that first`,
    { details: { columns: lost.join(",") } },
  );
}
