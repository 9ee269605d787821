import {
  type Principal,
  type Queryable,
  RIGHTS,
  type Right,
  type Role,
  rightsFrom,
  TABLE_RIGHTS,
} from "@lapse/kit";
import { environmentRights, type RolesHeld, tableRights } from "../domain/effective-rights.ts";
import type { Environment } from "../domain/environment.ts";
import { type Given, givenTo } from "../store/given.ts";
import { exactlyOne } from "../store/rows.ts";
import type { TableInEnvironment } from "../store/table-row.ts";

/** What the principal of a call is there, and what it may do. */
export interface Standing {
  /** Its roles there. */
  readonly roles: readonly Role[];
  /** By roles, grants and ownership; sorted. */
  readonly rights: readonly Right[];
}

export type EnvironmentWithRights = Environment & Standing;
export type TableWithRights = TableInEnvironment & Standing;

/** One of these is enough; the first is the one that a refusal names. */
export type Wanted = Right | readonly [Right, ...Right[]];

export const asked = (wanted: Wanted): readonly [Right, ...Right[]] =>
  typeof wanted === "string" ? [wanted] : wanted;

/** In the whole tenant of the principal. */
export async function tenantStanding(db: Queryable, principal: Principal): Promise<Standing> {
  const given = await look(db, principal, { environmentIds: [], tableIds: [] });
  const roles = [...principal.roles, ...given.everywhere];
  return { roles, rights: principal.kind === "service" ? ALL_RIGHTS : rightsFrom({ roles }) };
}

/** In each of these environments of its tenant; looked up at once for all. */
export async function withEnvironmentRights(
  db: Queryable,
  principal: Principal,
  environments: readonly Environment[],
): Promise<EnvironmentWithRights[]> {
  const environmentIds = environments.map(({ environmentId }) => environmentId);
  const given = await look(db, principal, { environmentIds, tableIds: [] });
  return environments.map((environment) => {
    const held = rolesIn(principal, given, environment.environmentId);
    const rights = principal.kind === "service" ? ALL_RIGHTS : environmentRights(held);
    return { ...environment, roles: [...held.everywhere, ...held.here], rights };
  });
}

/**
 * On each of these tables of its tenant; looked up at once for all. Where the token or ownership gives all of them
 * `enough`, nothing is looked up, and the rights are those only.
 */
export async function withTableRights(
  db: Queryable,
  principal: Principal,
  entries: readonly TableInEnvironment[],
  { enough }: { readonly enough?: Wanted } = {},
): Promise<TableWithRights[]> {
  if (enough) {
    const known = entries.map((entry) => onTable(principal, NOTHING_GIVEN, entry));
    if (known.every(({ rights }) => asked(enough).some((right) => rights.includes(right))))
      return known;
  }
  const given = await look(db, principal, {
    environmentIds: [...new Set(entries.map(({ table }) => table.environmentId))],
    tableIds: entries.map(({ table }) => table.tableId),
  });
  return entries.map((entry) => onTable(principal, given, entry));
}

/** The same for one environment. */
export const withRightsIn = async (
  db: Queryable,
  principal: Principal,
  environment: Environment,
): Promise<EnvironmentWithRights> =>
  exactlyOne(await withEnvironmentRights(db, principal, [environment]), "the rights of one call");

/** The same for one table. */
export const withRightsOn = async (
  db: Queryable,
  principal: Principal,
  entry: TableInEnvironment,
  options: { readonly enough?: Wanted } = {},
): Promise<TableWithRights> =>
  exactlyOne(await withTableRights(db, principal, [entry], options), "the rights of one call");

/** Every role of the principal in an environment, or in the whole tenant, also where fewer give all rights. */
export async function allRolesIn(
  db: Queryable,
  principal: Principal,
  environmentId?: string,
): Promise<readonly Role[]> {
  const environmentIds = environmentId === undefined ? [] : [environmentId];
  const given = await givenTo(db, principal, { environmentIds, tableIds: [] });
  const here = environmentId === undefined ? [] : (given.inEnvironment.get(environmentId) ?? []);
  return [...principal.roles, ...given.everywhere, ...here];
}

function onTable(principal: Principal, given: Given, entry: TableInEnvironment): TableWithRights {
  const { table } = entry;
  const held = rolesIn(principal, given, table.environmentId);
  const grants = given.onTable.get(table.tableId) ?? [];
  const rights =
    principal.kind === "service"
      ? TABLE_RIGHTS
      : tableRights(table, held, { subject: principal.subject, grants });
  return { ...entry, roles: [...held.everywhere, ...held.here], rights };
}

const rolesIn = ({ roles }: Principal, given: Given, environmentId: string): RolesHeld => ({
  everywhere: [...roles, ...given.everywhere],
  here: given.inEnvironment.get(environmentId) ?? [],
});

const ALL_RIGHTS: readonly Right[] = [...RIGHTS].sort();
const NOTHING_GIVEN: Given = { everywhere: [], inEnvironment: new Map(), onTable: new Map() };

/** Nothing can be added to what a service or an admin may do, so nothing is looked up for them. */
const look = async (
  db: Queryable,
  principal: Principal,
  where: Parameters<typeof givenTo>[2],
): Promise<Given> => (mayEverything(principal) ? NOTHING_GIVEN : givenTo(db, principal, where));

const mayEverything = ({ kind, roles }: Principal): boolean =>
  kind === "service" || rightsFrom({ roles }).length === RIGHTS.length;
