import type { TableKind } from "@lapse/rules";

/** A table as the catalog holds it: what decides whether a retention may be set, and what it leads to. */
export interface Table {
  readonly id: string;
  readonly tenant: string;
  readonly environmentId: string;
  readonly environment: string;
  /** Namespace and name, e.g. `bronze.trial`. */
  readonly name: string;
  readonly kind: TableKind;
  readonly state: TableState;
  /** Subject of the principal who created it. */
  readonly owner: string;
  /** What the catalog lets the caller do with it, e.g. `table.drop`. */
  readonly rights: readonly string[];
  readonly environmentProtected: boolean;
  readonly projectAsset: boolean;
  readonly lastChangedAt: Date;
  readonly restoredAt: Date | null;
  readonly changeVersion: bigint;
  /** The version at the last touch for a change of retention, or restore; 0 if none. */
  readonly retentionVersion: bigint;
}

/** `staged`: its first commit is outstanding. `dropped`, `purging`, `purged`: gone for its users. */
export type TableState = "staged" | "live" | "dropped" | "purging" | "purged";

/** An environment as the catalog holds it. */
export interface Environment {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  /** What the catalog lets the caller do in it, e.g. `environment.manage`. */
  readonly rights: readonly string[];
  /** The version at the last touch for a change of retention; 0 if none. */
  readonly policyVersion: bigint;
}
