import type { Table } from "@lapse/proto/catalog";
import type { Outcome } from "../rules/operation.ts";

/** A real environment, and what whoever works in it has been told of it. */
export interface Subject {
  readonly tenant: string;
  readonly environment: string;
  readonly environmentId: string;
  /** Ids of all tables that ever were, in order. */
  readonly tableIds: string[];
  readonly holdIds: string[];
  readonly files: Map<string, TableFiles>;
  /** The table that a name stands for, or will once it is committed. */
  readonly idOf: (namespace: string, name: string) => string | undefined;
  /** What can be brought back. */
  readonly dropped: () => readonly DroppedTable[];
}

/** A table that can be brought back. */
export interface DroppedTable {
  readonly tableId: string;
  readonly namespace: string;
  readonly name: string;
}

/** Where a table's files go, and how many rows it has. */
interface TableFiles {
  readonly bucket: string;
  readonly keyPrefix: string;
  readonly rows: number;
}

/** What a call comes to besides its times. */
export type Answer = Omit<Outcome, "began" | "ended" | "refused">;

/** Remembers where the table's files go; gives its id. */
export function note({ files }: Subject, table: Table | undefined): string {
  if (table === undefined) return "";
  const { tableId, bucket, keyPrefix, rowCount } = table;
  files.set(tableId, { bucket, keyPrefix, rows: Number(rowCount) });
  return tableId;
}
