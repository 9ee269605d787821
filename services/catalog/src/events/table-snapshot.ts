import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { TableKind, type TableSnapshotSchema, TableState } from "@lapse/proto/events";
import type * as domain from "../domain/table.ts";
import type { TableInEnvironment } from "../store/table-row.ts";

export const KINDS: Readonly<Record<domain.TableKind, TableKind>> = {
  managed: TableKind.MANAGED,
  view: TableKind.VIEW,
  external: TableKind.EXTERNAL,
  artifact: TableKind.ARTIFACT,
};

export const STATES: Readonly<Record<domain.TableState, TableState>> = {
  staged: TableState.STAGED,
  live: TableState.LIVE,
  dropped: TableState.DROPPED,
  purging: TableState.PURGING,
  purged: TableState.PURGED,
};

/** The whole state of a table after a change, as every event of it carries it. */
export const tableSnapshot = ({
  table,
  environment,
}: TableInEnvironment): MessageInitShape<typeof TableSnapshotSchema> => ({
  tableId: table.tableId,
  tenant: table.tenant,
  environmentId: table.environmentId,
  environment: environment.name,
  namespace: table.namespace,
  name: table.name,
  kind: KINDS[table.kind],
  owner: table.owner,
  state: STATES[table.state],
  changeVersion: table.changeVersion,
  retentionVersion: table.retentionVersion,
  createdAt: timestampFromDate(table.createdAt),
  lastChangedAt: timestampFromDate(table.lastChangedAt),
  projectAsset: table.projectAsset,
  ...(table.restoredAt && { restoredAt: timestampFromDate(table.restoredAt) }),
});
