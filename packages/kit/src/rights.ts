import { denied } from "./errors.ts";
import type { Principal, Role } from "./principal.ts";

export type Right =
  | "table.read"
  | "table.write"
  | "table.create"
  | "table.drop"
  | "environment.manage"
  | "sweep.manage"
  | "audit.read";

const READER: readonly Right[] = ["table.read"];
const WRITER: readonly Right[] = [...READER, "table.write"];
const DATA_ENGINEER: readonly Right[] = [...WRITER, "table.create", "table.drop"];
const ADMIN: readonly Right[] = [
  ...DATA_ENGINEER,
  "environment.manage",
  "sweep.manage",
  "audit.read",
];

const RIGHTS: Record<Role, readonly Right[]> = {
  reader: READER,
  writer: WRITER,
  data_engineer: DATA_ENGINEER,
  admin: ADMIN,
  superadmin: ADMIN,
};

/** What the owner of a table may do with it, whatever their roles. */
const OWNER: readonly Right[] = ["table.read", "table.write", "table.drop"];

/** What the right is asked for. */
export interface RightScope {
  /** Subject of the owner of the table in question. */
  readonly owner?: string | undefined;
}

/**
 * Whether `principal` has `right` in its own tenant; whether the thing belongs to that tenant is for the
 * caller to have checked (another tenant's thing does not exist). A service may do anything.
 */
export function hasRight(principal: Principal, right: Right, { owner }: RightScope = {}): boolean {
  if (principal.kind === "service") return true;
  if (owner !== undefined && owner === principal.subject && OWNER.includes(right)) return true;
  return principal.roles.some((role) => RIGHTS[role].includes(right));
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
