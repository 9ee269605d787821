import type { TableGrant } from "@lapse/kit";
import { deleteGrant, insertGrant } from "../store/table-access.ts";
import { type AccessCall, changeAccess, requireRoom } from "./change-table-access.ts";
import type { CatalogDeps } from "./deps.ts";
import type { TableRef } from "./find-table.ts";

const MAX_GRANTS = 1_000;

export interface GrantRequest {
  readonly table: TableRef;
  readonly subject: string;
  readonly right: TableGrant;
}

/**
 * Lets a subject read, write or drop one table. What it may do already is fine.
 *
 * @throws exhausted `TOO_MANY_RULES`; precondition `TABLE_DROPPED`.
 */
export const grantTable = <A>(
  deps: CatalogDeps,
  call: AccessCall<A>,
  { table: ref, subject, right }: GrantRequest,
): Promise<A> =>
  changeAccess(deps, call, ref, async ({ tx, now, caller, table, access }) => {
    const has = access.grants.some((each) => each.subject === subject && each.right === right);
    if (has) return undefined;
    requireRoom(table, "grants", access.grants.length, MAX_GRANTS);
    const grantedBy = caller.principal.subject;
    await insertGrant(tx, table, { subject, right, grantedBy, grantedAt: now });
    return { type: "TABLE_GRANTED", details: { subject, right } };
  });

/** Takes that back. What the subject was not granted is fine. */
export const revokeTable = <A>(
  deps: CatalogDeps,
  call: AccessCall<A>,
  { table: ref, subject, right }: GrantRequest,
): Promise<A> =>
  changeAccess(deps, call, ref, async ({ tx, table }) =>
    (await deleteGrant(tx, table.tableId, { subject, right }))
      ? { type: "TABLE_GRANT_REVOKED", details: { subject, right } }
      : undefined,
  );
