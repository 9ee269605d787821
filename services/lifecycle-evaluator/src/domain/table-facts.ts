import type { EnvironmentRetention, TableKind, TableRetention } from "@lapse/rules";
import type { ActivityKind } from "./activity.ts";

/** `unknown`: activity or a rule has come, the catalog's event has not. */
export type TableState = "unknown" | "staged" | "live" | "dropped" | "purging" | "purged";

/**
 * Everything the evaluator knows about one table, its environment and what applies to all tables, as of one
 * snapshot.
 */
export interface TableFacts {
  readonly tableId: string;
  readonly tenant: string;
  readonly environmentId: string | null;
  readonly environment: string;
  readonly namespace: string;
  readonly name: string;
  readonly owner: string;
  /** Null until the catalog has said it. */
  readonly kind: TableKind | null;
  readonly state: TableState;
  readonly projectAsset: boolean;
  readonly environmentProtected: boolean;
  readonly restoredAt: Date | null;
  /** Null: nobody has used or changed it yet, as far as is known. */
  readonly lastActivityAt: Date | null;
  readonly lastActivityKind: ActivityKind | null;
  readonly tableRule: TableRetention | null;
  readonly environmentRule: EnvironmentRetention | null;
  /** The catalog's version of the table. */
  readonly changeVersion: bigint;
  /** Version of the table's own rule, or of its absence, as held here. */
  readonly retentionVersion: bigint;
  /** Version of the environment's rule, or of its absence, as held here. */
  readonly policyVersion: bigint;
  /** Activity before it may have been lost; null: none was. */
  readonly signalFloorAt: Date | null;
  /** Length of a retention day. */
  readonly daySeconds: number;
}
