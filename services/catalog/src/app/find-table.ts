import { isTransient, LapseError, notFound, type Principal, type Queryable } from "@lapse/kit";
import { isRenamed } from "../domain/table-changes.ts";
import { lockNames } from "../store/names-lock.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { findLastDroppedTable, findLiveTable, findTable, lockTable } from "../store/tables.ts";
import { AccessDenied, tableResource } from "./access.ts";
import {
  asked,
  type Standing,
  type TableWithRights,
  tenantStanding,
  type Wanted,
  withRightsIn,
  withRightsOn,
} from "./effective-rights.ts";
import { environmentOf, isInTenant, unknownEnvironment } from "./find-environment.ts";

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
type Generation = "live" | "dropped";

export interface TableOptions {
  readonly generation?: Generation;
  /**
   * False where the caller is not shown the table's rights: they are then looked up only if its token does not give
   * what is wanted.
   */
  readonly shown?: boolean;
}

/**
 * The table in the caller's tenant, with what the caller may do: by name the one of that generation, by id whatever its
 * state, but not once purged.
 *
 * @throws not_found `TABLE_NOT_FOUND` or `ENVIRONMENT_NOT_FOUND`, also for another tenant's; AccessDenied without one of
 *   the rights that are wanted, and in the same words when there is none but the caller may not know.
 */
export async function requireTable(
  db: Queryable,
  principal: Principal,
  ref: TableRef,
  wanted: Wanted,
  options: TableOptions = {},
): Promise<TableWithRights> {
  const found = await requireExisting(db, principal, ref, wanted, options);
  return allowed(db, principal, ref, wanted, found, options);
}

/** The table, or undefined where {@link requireTable} would refuse; for a look ahead of the transaction. */
export async function peekTable(
  db: Queryable,
  principal: Principal,
  ref: TableRef,
  wanted: Wanted,
  options: TableOptions = {},
): Promise<TableInEnvironment | undefined> {
  try {
    return await requireTable(db, principal, ref, wanted, { ...options, shown: false });
  } catch (error) {
    if (error instanceof LapseError && !isTransient(error)) return undefined;
    throw error;
  }
}

/**
 * The table that {@link requireTable} gives, with its row locked for the rest of the transaction. By name it has that name
 * also then: one that was renamed meanwhile is not what the caller means.
 */
export async function requireLockedTable(
  tx: Queryable,
  principal: Principal,
  ref: TableRef,
  wanted: Wanted,
  { lock = "update", naming = false, ...options }: LockOptions = {},
): Promise<TableWithRights> {
  for (let look = 1; look <= MAX_LOOKS; look++) {
    const { table } = await requireExisting(tx, principal, ref, wanted, options);
    if (naming) await lockNames(tx, table.environmentId, "share");
    const locked = await lockTable(tx, table.tableId, lock);
    if (locked && (ref.kind === "id" || !isRenamed(locked.table, ref))) {
      return allowed(tx, principal, ref, wanted, locked, options);
    }
  }
  throw await missing(tx, principal, ref, wanted, options);
}

export interface LockOptions extends TableOptions {
  readonly lock?: "update" | "share";
  /** Whether the table is about to get a name, see `lockNames`. */
  readonly naming?: boolean;
}

/** A name that changes hands at every look is as good as no table's. */
const MAX_LOOKS = 5;

async function requireExisting(
  db: Queryable,
  principal: Principal,
  ref: TableRef,
  wanted: Wanted,
  options: TableOptions,
): Promise<TableInEnvironment> {
  const found = await find(db, principal, ref, options);
  const exists = found && isInTenant(principal, found.table.tenant);
  if (exists && (found.table.state !== "purged" || options.generation === "dropped")) return found;
  throw await missing(db, principal, ref, wanted, options);
}

async function find(
  db: Queryable,
  principal: Principal,
  ref: TableRef,
  { generation = "live" }: TableOptions,
): Promise<TableInEnvironment | undefined> {
  if (ref.kind === "id") return findTable(db, ref.tableId);
  const environment = await environmentOf(db, principal, { kind: "name", name: ref.environment });
  const place = environment && { ...ref, environmentId: environment.environmentId };
  if (!place) return undefined;
  return generation === "live" ? findLiveTable(db, place) : findLastDroppedTable(db, place);
}

async function allowed(
  db: Queryable,
  principal: Principal,
  ref: TableRef,
  wanted: Wanted,
  found: TableInEnvironment,
  { shown = true }: TableOptions,
): Promise<TableWithRights> {
  const lookUp = shown ? {} : { enough: wanted };
  const entry = await withRightsOn(db, principal, found, lookUp);
  if (asked(wanted).some((right) => entry.rights.includes(right))) return entry;
  const resource = tableResource(found);
  // Who may not see it learns nothing that a wrong guess would not have said.
  const name = entry.rights.includes("table.read") ? resource.name : refName(ref);
  throw new AccessDenied(principal, asked(wanted)[0], resource, { shown: name });
}

/** What a caller is told of a table that is not there: only who could see any of its environment learns as much. */
async function missing(
  db: Queryable,
  principal: Principal,
  ref: TableRef,
  wanted: Wanted,
  { generation = "live" }: TableOptions,
): Promise<Error> {
  const name = refName(ref);
  const about = {
    kind: "table",
    id: ref.kind === "id" ? ref.tableId : "",
    name,
    environment: ref.kind === "id" ? "" : ref.environment,
  } as const;
  let standing: Standing | undefined;
  if (ref.kind === "name") {
    const place = { kind: "name", name: ref.environment } as const;
    const environment = await environmentOf(db, principal, place);
    if (!environment) return unknownEnvironment(db, principal, place, wanted, about);
    standing = await withRightsIn(db, principal, environment);
  }
  const { rights } = standing ?? (await tenantStanding(db, principal));
  if (!rights.includes("table.read")) return new AccessDenied(principal, asked(wanted)[0], about);
  const where = about.environment === "" ? "" : ` in ${about.environment}`;
  return notFound(
    "TABLE_NOT_FOUND",
    generation === "live"
      ? `there is no table ${name}${where}; see the list of tables, or of dropped ones`
      : `there is no dropped table ${name}${where}; see the list of dropped tables`,
  );
}

const refName = (ref: TableRef): string =>
  ref.kind === "id" ? ref.tableId : `${ref.namespace}.${ref.name}`;
