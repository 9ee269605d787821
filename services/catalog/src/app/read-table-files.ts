import { conflict, precondition, withTransaction } from "@lapse/kit";
import type { DataFile } from "../domain/data-file.ts";
import { type AppliedPolicies, appliedPolicies } from "../domain/policies.ts";
import { qualifiedName } from "../domain/table.ts";
import { requirePresent } from "../domain/table-changes.ts";
import { pageOfCurrentFiles } from "../store/files.ts";
import { tablePolicies } from "../store/table-access.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import type { TableWithRights } from "./effective-rights.ts";
import { requireTable, type TableRef } from "./find-table.ts";
import { unlessRefused } from "./refused.ts";

/** A page of a table's files begins after this one, in this snapshot. */
export interface FileCursor {
  readonly snapshotId: string;
  readonly path: string;
}

export interface FilesRequest {
  readonly table: TableRef;
  readonly after: FileCursor | undefined;
  readonly limit: number;
  /** The caller promises to apply row filters and column masks itself. */
  readonly appliesPolicies: boolean;
}

export type TableFiles = TableWithRights & {
  readonly files: readonly DataFile[];
  readonly policies: AppliedPolicies;
};

/**
 * A page of the files of a table's current snapshot, and what applies to the caller, all of the same moment.
 *
 * @throws precondition `POLICY_NOT_APPLIED` where row filters or column masks apply that the caller does not promise to
 *   apply; conflict `SNAPSHOT_CHANGED` when there was a commit since the page before.
 */
export const filesOfTable = (
  deps: CatalogDeps,
  caller: Caller,
  { table: ref, after, limit, appliesPolicies }: FilesRequest,
): Promise<TableFiles> =>
  recordingRefusals(deps, caller, () =>
    withTransaction(
      deps.pool,
      async (tx) => {
        const { principal } = caller;
        const entry = await requireTable(tx, principal, ref, "table.read");
        const { tableId, contents, owner } = unlessRefused(requirePresent(entry.table));
        const set = await tablePolicies(tx, tableId);
        const policies = appliedPolicies(set, principal, { roles: entry.roles, owner });
        if (!appliesPolicies && policies.filters.length + policies.masks.length > 0) {
          throw policyNotApplied(entry);
        }
        if (after && after.snapshotId !== contents.snapshotId) throw snapshotChanged(entry);
        const files = await pageOfCurrentFiles(tx, { tableId, after: after?.path, limit });
        return { ...entry, files, policies };
      },
      { isolation: "repeatable read" },
    ),
  );

const policyNotApplied = ({ table }: TableWithRights) =>
  precondition(
    "POLICY_NOT_APPLIED",
    `table ${qualifiedName(table)} has row filters or column masks for you, and its files would show what they hide; read it with a client that applies them, such as lapse sql`,
    { details: { table_id: table.tableId } },
  );

const snapshotChanged = ({ table }: TableWithRights) =>
  conflict(
    "SNAPSHOT_CHANGED",
    `table ${qualifiedName(table)} was written while its files were listed; list them again from the first page`,
    { details: { table_id: table.tableId } },
  );
