import { denied } from "./errors.ts";
import { type Principal, ROLES, type Role } from "./principal.ts";

export const RIGHTS = [
  "table.read",
  "table.write",
  "table.create",
  "table.drop",
  "access.manage",
  "environment.manage",
  "sweep.manage",
  "audit.read",
] as const;
export type Right = (typeof RIGHTS)[number];

/** Those that one table can give; its owner has them all, whatever their roles. */
export const TABLE_RIGHTS: readonly Right[] = [
  "access.manage",
  "table.drop",
  "table.read",
  "table.write",
];

/** Those that only a role gives which holds everywhere in the tenant, not one of an environment. */
export const TENANT_RIGHTS: readonly Right[] = ["audit.read", "sweep.manage"];

/** What can be granted to somebody on one table. */
export const TABLE_GRANTS = ["read", "write", "drop"] as const;
export type TableGrant = (typeof TABLE_GRANTS)[number];

const READER: readonly Right[] = ["table.read"];
const WRITER: readonly Right[] = [...READER, "table.write"];
const DATA_ENGINEER: readonly Right[] = [...WRITER, "table.create", "table.drop"];

const BY_ROLE: Record<Role, readonly Right[]> = {
  reader: READER,
  writer: WRITER,
  data_engineer: DATA_ENGINEER,
  admin: RIGHTS,
  superadmin: RIGHTS,
};

/** Who may write to a table or drop it may see it. */
const BY_GRANT: Record<TableGrant, readonly Right[]> = {
  read: ["table.read"],
  write: ["table.read", "table.write"],
  drop: ["table.read", "table.drop"],
};

/** What somebody has been given, by whichever way. */
export interface Given {
  /** From the token, in the tenant, and in the environment in question. */
  readonly roles: readonly Role[];
  /** On the table in question. */
  readonly grants?: readonly TableGrant[];
  readonly isOwner?: boolean;
}

/** All rights that follow from what was given, each once, sorted. */
export function rightsFrom({ roles, grants = [], isOwner = false }: Given): Right[] {
  const rights = new Set([
    ...roles.flatMap((role) => BY_ROLE[role]),
    ...grants.flatMap((grant) => BY_GRANT[grant]),
    ...(isOwner ? TABLE_RIGHTS : []),
  ]);
  return [...rights].sort();
}

/** Whether whoever has `roles` may give `role` to others: nobody gives more than they have. */
export const mayGive = (roles: readonly Role[], role: Role): boolean =>
  roles.some((own) => ROLES.indexOf(own) >= ROLES.indexOf(role));

/** What the right is asked for. */
export interface RightScope {
  /** Subject of the owner of the table in question. */
  readonly owner?: string | undefined;
  /** What the catalog says the principal may do with the thing in question, beyond its own roles. */
  readonly rights?: readonly string[] | undefined;
}

/**
 * Whether `principal` has `right` in its own tenant; whether the thing belongs to that tenant is for the
 * caller to have checked (another tenant's thing does not exist). A service may do anything.
 */
export function hasRight(
  principal: Principal,
  right: Right,
  { owner, rights = [] }: RightScope = {},
): boolean {
  if (principal.kind === "service" || rights.includes(right)) return true;
  if (owner !== undefined && owner === principal.subject && TABLE_RIGHTS.includes(right))
    return true;
  return principal.roles.some((role) => BY_ROLE[role].includes(right));
}

/** @throws denied `RIGHT_MISSING` unless {@link hasRight}. */
export function requireRight(principal: Principal, right: Right, scope: RightScope = {}): void {
  if (hasRight(principal, right, scope)) return;
  throw denied(
    "RIGHT_MISSING",
    `${principal.subject} lacks the right ${right}; ask an admin of ${principal.tenant} for a role that has it`,
    { details: { right, subject: principal.subject } },
  );
}
