import { recordReader } from "../read-record.ts";
import type { ColumnMaskToApply, RowFilterToApply } from "./access.ts";

export type Column = { readonly name: string; readonly type: string; readonly required?: boolean };

/** A table with its expiry (T12). Counts are whole numbers below 2^53; a larger one is refused, never rounded. */
export type Table = {
  readonly id: string;
  readonly environment: string;
  readonly namespace: string;
  readonly name: string;
  /** Namespace and name, e.g. `bronze.trial`. */
  readonly full_name: string;
  readonly kind: "managed" | "view" | "external" | "artifact";
  readonly state: "staged" | "live" | "dropped" | "purging" | "purged";
  readonly owner: string;
  readonly description: string;
  readonly columns: readonly Column[];
  readonly location: string;
  readonly row_count: number;
  readonly byte_size: number;
  readonly file_count: number;
  /** Moves with every change. */
  readonly version: number;
  readonly created_at: Date;
  readonly last_changed_at: Date;
  readonly restored_at: Date | null;
  readonly expires_at: Date | null;
  /** Within the server's warning window. */
  readonly expires_soon: boolean;
  /** True when the expiry could not be told in time: `expires_at` is then null without meaning never. */
  readonly expiry_unknown: boolean;
  /** Which deployed project builds it, and therefore keeps it: `<project> <version>`; null: none (T20). */
  readonly asset_of: string | null;
  /** What the caller may do with it, e.g. `table.drop`; sorted. */
  readonly rights: readonly string[];
  /** Only once it is dropped, as the next two. */
  readonly dropped_at?: Date | null;
  readonly drop_reason?: "retention" | "request" | null;
  /** Until then it can be brought back. */
  readonly undo_until?: Date | null;
};

const INSTANTS = {
  created_at: "instant",
  last_changed_at: "instant",
  restored_at: "instant",
  expires_at: "instant",
  dropped_at: "instant",
  undo_until: "instant",
} as const;

export const readTable = recordReader<Table>(INSTANTS);

/** The answer to a commit. */
export type CommittedTable = Table & { readonly snapshot_id: string | null };

export const readCommittedTable = recordReader<CommittedTable>(INSTANTS);

export type DataFile = {
  /** Below the table's location. */
  readonly path: string;
  readonly byte_size: number;
  readonly row_count: number;
};

/** The files of one snapshot, all pages of them, and what a reader must apply before it shows any row. */
export type TableFiles = {
  /** Null before the first commit. */
  readonly snapshot_id: string | null;
  /** `uri` is what a reader opens. */
  readonly files: readonly (DataFile & { readonly uri: string })[];
  readonly table: Table;
  /** A row is shown when every one of these holds for it. */
  readonly row_filters: readonly RowFilterToApply[];
  readonly column_masks: readonly ColumnMaskToApply[];
};

export const readTableFiles = recordReader<TableFiles & { readonly next_cursor: string | null }>(
  {},
  { table: readTable },
);

/** Files to add, or to put in place of the others. */
export type Commit = {
  /** `append` adds the files; `replace` puts them in place of all others; `maintain` does so without a change of data. */
  readonly operation: "append" | "replace" | "maintain";
  readonly files: readonly DataFile[];
  /** Refused as `TABLE_CHANGED` when the table has moved on. */
  readonly expected_version?: number;
  /** The columns after it; absent: unchanged. */
  readonly columns?: readonly Column[];
  /** A hold that ends with the commit. */
  readonly hold_id?: string;
};

/** A lease that keeps a table from being dropped (T21). */
export type Hold = {
  readonly id: string;
  readonly table_id: string;
  readonly kind: "write" | "pipeline_task";
  readonly holder: string;
  readonly created_at: Date;
  /** Renew it well before. */
  readonly expires_at: Date;
};

export const readHold = recordReader<Hold>({ created_at: "instant", expires_at: "instant" });

/** Reads of a table (T17), and which systems have reported any (T18). */
export type TableReads = {
  readonly days: readonly {
    /** A day of the calendar, `YYYY-MM-DD`, in UTC. */
    readonly day: string;
    readonly source: string;
    readonly reads: number;
  }[];
  readonly sources: readonly ReportingSource[];
};

export type ReportingSource = { readonly source: string; readonly last_reported_at: Date };

const readSource = recordReader<ReportingSource>({ last_reported_at: "instant" });

export const readTableReads = recordReader<TableReads>(
  {},
  { sources: (value) => (value as readonly unknown[]).map(readSource) },
);
