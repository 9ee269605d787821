import type { Span } from "./span.ts";

/** A live or dropped table as the catalog lists it; instants in ms. */
export interface SeenTable {
  readonly tableId: string;
  readonly namespace: string;
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly owner: string;
  readonly description: string;
  readonly rows: number;
  readonly files: number;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly restoredAt: number | null;
  readonly drop: {
    readonly at: number;
    readonly reason: string;
    readonly undoUntil: number;
  } | null;
}

/** When a table expires, as the evaluator says. */
export interface SeenExpiry {
  readonly source: string;
  readonly rule: string;
  readonly setBy: string;
  readonly setAt: number | null;
  readonly lastActivityAt: number | null;
  readonly lastActivityKind: string;
  readonly expiresAt: number | null;
  readonly kept: string;
}

export interface SeenDecision {
  readonly type: string;
  readonly resource: string;
  readonly actor: string;
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** What the system says of an environment while all is quiet. */
export interface Seen {
  readonly now: Span;
  readonly protected: boolean;
  /** Null: nobody has ever set a retention. */
  readonly retention: {
    readonly days: number | null;
    readonly setBy: string;
    readonly setAt: number;
  } | null;
  readonly tables: readonly SeenTable[];
  readonly expiries: ReadonlyMap<string, SeenExpiry>;
  /** Ids of the tables that expire within the warning window, soonest first. */
  readonly expiring: readonly string[];
  /** Since the last comparison. */
  readonly decisions: readonly SeenDecision[];
}
