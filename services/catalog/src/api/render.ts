import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ObjectStore } from "@lapse/object-store";
import type {
  EnvironmentSchema,
  HoldSchema,
  NamespaceSchema,
  ProjectSchema,
  TableFileSchema,
  TableSchema,
} from "@lapse/proto/catalog";
import type { NamespaceInEnvironment } from "../app/create-namespace.ts";
import type { ProjectInEnvironment } from "../app/deploy-project.ts";
import type { EnvironmentWithRights, TableWithRights } from "../app/effective-rights.ts";
import type { DataFile } from "../domain/data-file.ts";
import type { Hold } from "../domain/hold.ts";
import type { Location } from "../domain/table.ts";
import { KINDS, STATES } from "../events/table-snapshot.ts";

/** Gives the address by which a reader opens what lies in the object store. */
export type Addresses = Pick<ObjectStore, "uri">;

export const renderEnvironment = (
  environment: EnvironmentWithRights,
): MessageInitShape<typeof EnvironmentSchema> => ({
  environmentId: environment.environmentId,
  tenant: environment.tenant,
  name: environment.name,
  protected: environment.protected,
  changeVersion: environment.changeVersion,
  policyVersion: environment.policyVersion,
  tableBucket: environment.tableBucket,
  createdBy: environment.createdBy,
  createdAt: timestampFromDate(environment.createdAt),
  rights: [...environment.rights],
});

export const renderTable = (
  store: Addresses,
  { table, environment, rights }: TableWithRights,
): MessageInitShape<typeof TableSchema> => ({
  tableId: table.tableId,
  tenant: table.tenant,
  environmentId: table.environmentId,
  environment: environment.name,
  namespace: table.namespace,
  name: table.name,
  kind: KINDS[table.kind],
  state: STATES[table.state],
  owner: table.owner,
  description: table.description,
  columns: table.columns.map((column) => ({ ...column })),
  location: table.location ? folderAddress(store, table.location) : "",
  bucket: table.location?.bucket ?? "",
  keyPrefix: table.location?.keyPrefix ?? "",
  changeVersion: table.changeVersion,
  retentionVersion: table.retentionVersion,
  createdAt: timestampFromDate(table.createdAt),
  lastChangedAt: timestampFromDate(table.lastChangedAt),
  ...(table.restoredAt && { restoredAt: timestampFromDate(table.restoredAt) }),
  ...(table.drop && {
    droppedAt: timestampFromDate(table.drop.at),
    dropReason: table.drop.reason,
    undoUntil: timestampFromDate(table.drop.undoUntil),
  }),
  rowCount: table.contents.rowCount,
  byteSize: table.contents.byteSize,
  fileCount: table.contents.fileCount,
  environmentProtected: environment.protected,
  environmentPolicyVersion: environment.policyVersion,
  projectAsset: table.projectAsset,
  assetOf: table.assetOf,
  rights: [...rights],
});

export const renderFile = (
  store: Addresses,
  { bucket, keyPrefix }: Location,
  { path, byteSize, rowCount }: DataFile,
): MessageInitShape<typeof TableFileSchema> => ({
  path,
  uri: store.uri(bucket, keyPrefix + path),
  byteSize,
  rowCount,
});

export const renderHold = (hold: Hold): MessageInitShape<typeof HoldSchema> => ({
  holdId: hold.holdId,
  tableId: hold.tableId,
  kind: hold.kind,
  holder: hold.holder,
  createdAt: timestampFromDate(hold.createdAt),
  expiresAt: timestampFromDate(hold.expiresAt),
});

export const renderNamespace = ({
  namespace,
  environment,
}: NamespaceInEnvironment): MessageInitShape<typeof NamespaceSchema> => ({
  environment: environment.name,
  path: namespace.path,
  createdBy: namespace.createdBy,
  createdAt: timestampFromDate(namespace.createdAt),
});

export const renderProject = ({
  deployment,
  environment,
}: ProjectInEnvironment): MessageInitShape<typeof ProjectSchema> => ({
  name: deployment.project,
  environment: environment.name,
  version: deployment.version,
  assets: [...deployment.assets],
  deployedBy: deployment.deployedBy,
  deployedAt: timestampFromDate(deployment.deployedAt),
});

/** Without the slash at its end, so that `<location>/<path>` is a file's address. */
const folderAddress = (store: Addresses, { bucket, keyPrefix }: Location): string =>
  store.uri(bucket, keyPrefix.slice(0, -1));
