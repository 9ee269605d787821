import {
  hasRight,
  isTransient,
  LapseError,
  notFound,
  type Principal,
  type Queryable,
} from "@lapse/kit";
import type { TableInEnvironment } from "../store/table-row.ts";
import { findLastDroppedTable, findLiveTable, findTable, lockTable } from "../store/tables.ts";
import { AccessDenied } from "./access.ts";
import { isInTenant, requireEnvironment } from "./find-environment.ts";

/** A table as a caller names it. */
export type TableRef =
  | { readonly kind: "id"; readonly tableId: string }
  | {
      readonly kind: "name";
      readonly environment: string;
      readonly namespace: string;
      readonly name: string;
    };

/** Which table a name stands for: the live one, or the generation that was dropped last. */
export type Generation = "live" | "dropped";

/**
 * The table in the caller's tenant: by name the one of that generation, by id whatever its state, but not once purged.
 *
 * @throws not_found `TABLE_NOT_FOUND` or `ENVIRONMENT_NOT_FOUND`, also for another tenant's; AccessDenied when the
 *   caller may not even know which tables there are.
 */
export async function requireTable(
  db: Queryable,
  principal: Principal,
  ref: TableRef,
  generation: Generation = "live",
): Promise<TableInEnvironment> {
  const found = await find(db, principal, ref, generation);
  const exists = found && isInTenant(principal, found.table.tenant);
  if (exists && (found.table.state !== "purged" || generation === "dropped")) return found;
  throw missing(principal, ref, generation);
}

/** The table, or undefined where {@link requireTable} would refuse; for a look ahead of the transaction. */
export async function peekTable(
  db: Queryable,
  principal: Principal,
  ref: TableRef,
  generation: Generation = "live",
): Promise<TableInEnvironment | undefined> {
  try {
    return await requireTable(db, principal, ref, generation);
  } catch (error) {
    if (error instanceof LapseError && !isTransient(error)) return undefined;
    throw error;
  }
}

/** The table that {@link requireTable} gives, with its row locked for the rest of the transaction. */
export async function requireLockedTable(
  tx: Queryable,
  principal: Principal,
  ref: TableRef,
  {
    generation = "live",
    lock = "update",
  }: { generation?: Generation; lock?: "update" | "share" } = {},
): Promise<TableInEnvironment> {
  const { table } = await requireTable(tx, principal, ref, generation);
  const locked = await lockTable(tx, table.tableId, lock);
  if (!locked) throw missing(principal, ref, generation);
  return locked;
}

async function find(
  db: Queryable,
  principal: Principal,
  ref: TableRef,
  generation: Generation,
): Promise<TableInEnvironment | undefined> {
  if (ref.kind === "id") return findTable(db, ref.tableId);
  const environment = await requireEnvironment(db, principal, {
    kind: "name",
    name: ref.environment,
  });
  const place = { ...ref, environmentId: environment.environmentId };
  return generation === "live" ? findLiveTable(db, place) : findLastDroppedTable(db, place);
}

function missing(principal: Principal, ref: TableRef, generation: Generation): Error {
  const name = ref.kind === "id" ? ref.tableId : `${ref.namespace}.${ref.name}`;
  const environment = ref.kind === "id" ? "" : ref.environment;
  if (!hasRight(principal, "table.read")) {
    const id = ref.kind === "id" ? ref.tableId : "";
    return new AccessDenied(principal, "table.read", { kind: "table", id, name, environment });
  }
  const where = environment === "" ? "" : ` in ${environment}`;
  return notFound(
    "TABLE_NOT_FOUND",
    generation === "live"
      ? `there is no table ${name}${where}; see the list of tables, or of dropped ones`
      : `there is no dropped table ${name}${where}; see the list of dropped tables`,
  );
}
