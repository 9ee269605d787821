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
  /**
   * Its place in what retention-policy said. Two changes may carry one version: a rule that is settled for a version
   * and removed by the restore that gave it; the later one counts.
   */
  readonly sequence: bigint;
}

/** An environment's rule, or that it has none, as of a version. */
export interface EnvironmentRuleChange {
  readonly environmentId: string;
  readonly rule: EnvironmentRetention | null;
  readonly version: bigint;
}

interface Versioned {
  readonly version: bigint;
  readonly sequence?: bigint;
}

/** The newest change of each key, in the order of the keys: every writer locks its rows in the same order. */
export function newestByKey<T extends Versioned>(
  changes: readonly T[],
  keyOf: (change: T) => string,
): readonly T[] {
  const newest = new Map<string, T>();
  for (const change of changes) {
    const key = keyOf(change);
    const known = newest.get(key);
    if (known === undefined || isNewer(change, known)) {
      newest.set(key, change);
    }
  }
  return [...newest.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
}

function isNewer(change: Versioned, known: Versioned): boolean {
  return change.version === known.version
    ? (change.sequence ?? 0n) > (known.sequence ?? 0n)
    : change.version > known.version;
}
