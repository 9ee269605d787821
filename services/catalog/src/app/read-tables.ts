import type { Principal } from "@lapse/kit";
import { withTransaction } from "@lapse/kit";
import type { DataFile } from "../domain/data-file.ts";
import { requirePresent } from "../domain/table-changes.ts";
import { currentFiles } from "../store/files.ts";
import {
  type DroppedCursor,
  type LiveCursor,
  listDroppedTables,
  listLiveTables,
} from "../store/table-lists.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { environmentResource, requireAnyRight, requireTableRight } from "./access.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { type EnvironmentRef, requireEnvironment } from "./find-environment.ts";
import { requireTable, type TableRef } from "./find-table.ts";
import { unlessRefused } from "./refused.ts";

/** By name the live table; by id also one that is staged, dropped or being purged, with its state. */
export const getTable = (
  deps: CatalogDeps,
  caller: Caller,
  ref: TableRef,
): Promise<TableInEnvironment> =>
  recordingRefusals(deps, caller, async () => {
    const entry = await requireTable(deps.pool, caller.principal, ref);
    requireTableRight(caller.principal, entry, "table.read");
    return entry;
  });

/** The live tables of an environment, in a namespace and those below it where one is given, by name. */
export const pageOfTables = (
  deps: CatalogDeps,
  caller: Caller,
  page: {
    environment: EnvironmentRef;
    namespace: string | undefined;
    after: LiveCursor | undefined;
    limit: number;
  },
): Promise<TableInEnvironment[]> =>
  recordingRefusals(deps, caller, async () => {
    const environmentId = await readableEnvironment(deps, caller.principal, page.environment);
    return listLiveTables(deps.pool, { ...page, environmentId });
  });

/** The dropped tables of an environment, those being purged included, the last dropped first (T29). */
export const pageOfDroppedTables = (
  deps: CatalogDeps,
  caller: Caller,
  page: { environment: EnvironmentRef; after: DroppedCursor | undefined; limit: number },
): Promise<TableInEnvironment[]> =>
  recordingRefusals(deps, caller, async () => {
    const environmentId = await readableEnvironment(deps, caller.principal, page.environment);
    return listDroppedTables(deps.pool, { ...page, environmentId });
  });

/** A table with the files of its current snapshot, both of the same moment. */
export const filesOfTable = (
  deps: CatalogDeps,
  caller: Caller,
  ref: TableRef,
): Promise<TableInEnvironment & { readonly files: readonly DataFile[] }> =>
  recordingRefusals(deps, caller, () =>
    withTransaction(
      deps.pool,
      async (tx) => {
        const entry = await requireTable(tx, caller.principal, ref);
        requireTableRight(caller.principal, entry, "table.read");
        unlessRefused(requirePresent(entry.table));
        return { ...entry, files: await currentFiles(tx, entry.table.tableId) };
      },
      { isolation: "repeatable read" },
    ),
  );

/** Every table of an environment can be read by whoever has the role, so the right is asked once, before paging. */
async function readableEnvironment(
  deps: CatalogDeps,
  principal: Principal,
  ref: EnvironmentRef,
): Promise<string> {
  const environment = await requireEnvironment(deps.pool, principal, ref);
  requireAnyRight(principal, ["table.read"], environmentResource(environment));
  return environment.environmentId;
}
