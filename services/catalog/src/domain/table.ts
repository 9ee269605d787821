/** Only a managed table has files of its own, and only it may expire (T22). */
export type TableKind = "managed" | "view" | "external" | "artifact";

/** staged → live ⇄ dropped → purging → purged, and staged → purging where the first commit never came. */
export type TableState = "staged" | "live" | "dropped" | "purging" | "purged";

/** A column; `type` as the engine that wrote it names it, e.g. `BIGINT`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

/** A folder of the object store; `keyPrefix` ends in a slash. */
export interface Location {
  readonly bucket: string;
  readonly keyPrefix: string;
}

export type DropReason = "retention" | "request";

/** That a table is dropped, and until when it can come back. */
export interface Drop {
  readonly at: Date;
  /** The person; null when a retention dropped it. */
  readonly by: string | null;
  readonly reason: DropReason;
  /** Fixed at the drop: no later configuration moves it. */
  readonly undoUntil: Date;
}

/** The files a table has now, added up. */
export interface Contents {
  /** The current snapshot; null before the first commit. */
  readonly snapshotId: string | null;
  /** How many snapshots there have been. */
  readonly snapshotSequence: bigint;
  readonly rowCount: bigint;
  readonly byteSize: bigint;
  readonly fileCount: number;
}

/** A table as stored. Everything is keyed by `tableId`; a re-created namesake is another table. */
export interface Table {
  readonly tableId: string;
  readonly tenant: string;
  readonly environmentId: string;
  readonly namespace: string;
  readonly name: string;
  readonly kind: TableKind;
  readonly state: TableState;
  readonly owner: string;
  readonly description: string;
  readonly columns: readonly Column[];
  /** Null unless managed. */
  readonly location: Location | null;
  /** Moves by one with every change. */
  readonly changeVersion: bigint;
  /** The change version at the last touch for a change of retention or restore; 0 if none. */
  readonly retentionVersion: bigint;
  /** A project that is current in its environment builds a table of this name (T20). False unless live. */
  readonly projectAsset: boolean;
  /** Which, and in which version: `<project> <version>`; empty where none does. */
  readonly assetOf: string;
  readonly contents: Contents;
  readonly createdAt: Date;
  /** The last change that counts as activity (T13). */
  readonly lastChangedAt: Date;
  readonly restoredAt: Date | null;
  readonly drop: Drop | null;
  readonly purgedAt: Date | null;
}

export const NO_CONTENTS: Contents = {
  snapshotId: null,
  snapshotSequence: 0n,
  rowCount: 0n,
  byteSize: 0n,
  fileCount: 0,
};

/** How people write it: `bronze.trial`. */
export const qualifiedName = (table: Pick<Table, "namespace" | "name">): string =>
  `${table.namespace}.${table.name}`;
