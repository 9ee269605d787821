import {
  type Right,
  type Role,
  rightsFrom,
  TABLE_RIGHTS,
  type TableGrant,
  TENANT_RIGHTS,
} from "@lapse/kit";
import type { Table } from "./table.ts";

/** The roles of a principal where something is asked of it. */
export interface RolesHeld {
  /** From the token, and bound in the whole tenant. */
  readonly everywhere: readonly Role[];
  /** Bound in the environment in question. */
  readonly here: readonly Role[];
}

/** What the roles allow in an environment, sorted. What concerns the whole tenant no role of one environment gives. */
export function environmentRights({ everywhere, here }: RolesHeld): readonly Right[] {
  const local = rightsFrom({ roles: here }).filter((right) => !TENANT_RIGHTS.includes(right));
  return [...new Set([...rightsFrom({ roles: everywhere }), ...local])].sort();
}

/**
 * What roles, grants and ownership allow on a table, sorted. On one that is dropped no grant applies, until it is brought
 * back (T27, T28).
 */
export function tableRights(
  table: Pick<Table, "owner" | "state">,
  { everywhere, here }: RolesHeld,
  { subject, grants }: { readonly subject: string; readonly grants: readonly TableGrant[] },
): readonly Right[] {
  const rights = rightsFrom({
    roles: [...everywhere, ...here],
    grants: accessApplies(table) ? grants : [],
    isOwner: table.owner === subject,
  });
  return rights.filter((right) => TABLE_RIGHTS.includes(right));
}

/** Whether grants, row filters and column masks apply to it. */
export const accessApplies = ({ state }: Pick<Table, "state">): boolean =>
  state === "live" || state === "staged";
