import type { EnvironmentRetention, TableKind, TableRetention } from "@lapse/rules";
import type { TableState } from "./table-facts.ts";

/** A table as the catalog last said it is; the version orders what it says. */
export interface TableSnapshot {
  readonly tableId: string;
  readonly tenant: string;
  readonly environmentId: string;
  readonly namespace: string;
  readonly name: string;
  readonly kind: TableKind;
  readonly state: Exclude<TableState, "unknown">;
  readonly owner: string;
  readonly projectAsset: boolean;
  readonly version: bigint;
  readonly createdAt: Date;
  readonly lastChangedAt: Date;
  readonly restoredAt: Date | null;
}

/** An environment as the catalog last said it is. */
export interface EnvironmentSnapshot {
  readonly environmentId: string;
  readonly tenant: string;
  readonly name: string;
  readonly protected: boolean;
  readonly deleted: boolean;
  readonly version: bigint;
}

/** A table's own rule, or that it has none, as of a version. */
export interface TableRuleChange {
  readonly tableId: string;
  readonly rule: TableRetention | null;
  readonly version: bigint;
}

/** An environment's rule, or that it has none, as of a version. */
export interface EnvironmentRuleChange {
  readonly environmentId: string;
  readonly rule: EnvironmentRetention | null;
  readonly version: bigint;
}

/** The newest change of each key, in the order of the keys: every writer locks its rows in the same order. */
export function newestByKey<T extends { readonly version: bigint }>(
  changes: readonly T[],
  keyOf: (change: T) => string,
): readonly T[] {
  const newest = new Map<string, T>();
  for (const change of changes) {
    const key = keyOf(change);
    const known = newest.get(key);
    if (known === undefined || change.version > known.version) {
      newest.set(key, change);
    }
  }
  return [...newest.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
}
