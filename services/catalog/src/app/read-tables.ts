import {
  type DroppedCursor,
  type LivePage,
  listDroppedTables,
  listLiveTables,
  listOpenTables,
} from "../store/table-lists.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { type TableWithRights, withTableRights } from "./effective-rights.ts";
import { type EnvironmentRef, requireVisibleEnvironment } from "./find-environment.ts";
import { requireTable, type TableRef } from "./find-table.ts";

/** By name the live table; by id also one that is staged, dropped or being purged, with its state. */
export const getTable = (
  deps: CatalogDeps,
  caller: Caller,
  ref: TableRef,
): Promise<TableWithRights> =>
  recordingRefusals(deps, caller, () =>
    requireTable(deps.pool, caller.principal, ref, "table.read"),
  );

/**
 * The live tables of an environment that the caller may read, in a namespace and those below it where one is given, by
 * name. All of them by a role, else its own and those that a grant opens: decided before the page is cut, so that none
 * is short.
 */
export const pageOfTables = (
  deps: CatalogDeps,
  caller: Caller,
  { environment: ref, ...page }: Omit<LivePage, "environmentId"> & { environment: EnvironmentRef },
): Promise<TableWithRights[]> =>
  recordingRefusals(deps, caller, async () => {
    const [{ pool }, { principal }] = [deps, caller];
    const { environmentId, rights } = await requireVisibleEnvironment(pool, principal, ref);
    const tables = rights.includes("table.read")
      ? await listLiveTables(pool, { ...page, environmentId })
      : await listOpenTables(pool, { ...page, environmentId }, principal);
    return withTableRights(pool, principal, tables);
  });

/**
 * The dropped tables of an environment that the caller may bring back, those being purged included, the last dropped
 * first (T29): all of them by a role, else its own. No grant applies while a table is dropped.
 */
export const pageOfDroppedTables = (
  deps: CatalogDeps,
  caller: Caller,
  {
    environment: ref,
    ...page
  }: {
    environment: EnvironmentRef;
    place: { namespace: string; name: string } | undefined;
    after: DroppedCursor | undefined;
    limit: number;
  },
): Promise<TableWithRights[]> =>
  recordingRefusals(deps, caller, async () => {
    const [{ pool }, { principal }] = [deps, caller];
    const { environmentId, rights } = await requireVisibleEnvironment(pool, principal, ref);
    const owner = rights.includes("table.drop") ? undefined : principal.subject;
    const tables = await listDroppedTables(pool, { ...page, environmentId, owner });
    return withTableRights(pool, principal, tables);
  });
