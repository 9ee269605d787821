/** RFC 3339 in UTC, e.g. `2026-11-30T12:00:00.123Z`. */
export type Instant = string;

export type Page<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };

export type PageRequest = { readonly limit?: number; readonly cursor?: string };

export type Environment = {
  readonly id: string;
  readonly name: string;
  readonly protected: boolean;
  readonly retention_days: number | null;
  readonly retention_set_by: string | null;
  readonly retention_set_at: Instant | null;
  /** True while the retention could not be told: it is then null without meaning none. */
  readonly retention_unknown: boolean;
  readonly table_bucket: string;
  readonly created_by: string;
  readonly created_at: Instant;
};

export type EnvironmentRetention = {
  readonly days: number | null;
  readonly set_by: string | null;
  readonly set_at: Instant | null;
  readonly previous_days?: number | null;
};

export type Column = { readonly name: string; readonly type: string; readonly required?: boolean };

export type Table = {
  readonly id: string;
  readonly environment: string;
  readonly namespace: string;
  readonly name: string;
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
  readonly version: number;
  readonly created_at: Instant;
  readonly last_changed_at: Instant;
  readonly restored_at: Instant | null;
  readonly expires_at: Instant | null;
  readonly expires_soon: boolean;
  /** True when the expiry could not be told in time: `expires_at` is then null without meaning never. */
  readonly expiry_unknown: boolean;
  readonly dropped_at?: Instant | null;
  readonly drop_reason?: "retention" | "request" | null;
  readonly undo_until?: Instant | null;
};

/** The answer to a commit. */
export type CommittedTable = Table & { readonly snapshot_id: string | null };

/** A rule to set: exactly one of the three (T3). */
export type RetentionRule =
  | { readonly days: number }
  | { readonly on: string }
  | { readonly never: true };

export type Retention = {
  readonly source: "table" | "environment" | null;
  readonly days: number | null;
  readonly on: string | null;
  readonly never: boolean;
  readonly set_by: string | null;
  readonly set_at: Instant | null;
  readonly last_activity_at: Instant | null;
  readonly last_activity_kind: string | null;
  readonly expires_at: Instant | null;
  readonly expires_soon: boolean;
  readonly kept: "protected" | "project_asset" | null;
  /** In the answer to a change: whether the table now expires sooner; null when that could not be told. */
  readonly shortened?: boolean | null;
};

export type ExpiringTable = Retention & {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly full_name: string;
};

export type DataFile = {
  readonly path: string;
  readonly byte_size: number;
  readonly row_count: number;
};

export type TableFiles = {
  readonly snapshot_id: string | null;
  readonly files: readonly (DataFile & { readonly uri: string })[];
  readonly table: Table;
};

export type Commit = {
  readonly operation: "append" | "replace" | "maintain";
  readonly files: readonly DataFile[];
  readonly expected_version?: number;
  readonly columns?: readonly Column[];
  readonly hold_id?: string;
};

export type Hold = {
  readonly id: string;
  readonly table_id: string;
  readonly kind: "write" | "pipeline_task";
  readonly holder: string;
  readonly created_at: Instant;
  readonly expires_at: Instant;
};

export type TableReads = {
  readonly days: readonly {
    readonly day: string;
    readonly source: string;
    readonly reads: number;
  }[];
  readonly sources: readonly { readonly source: string; readonly last_reported_at: Instant }[];
};

export type Activity = {
  readonly kind: "read" | "written" | "maintained" | "changed";
  readonly table_id?: string;
  readonly environment?: string;
  readonly table?: string;
  readonly occurred_at?: Instant;
  readonly source?: string;
};

export type Sweep = {
  readonly id: string;
  readonly status: "requested" | "running" | "completed" | "held" | "interrupted";
  readonly requested_by: string | null;
  readonly started_at: Instant | null;
  readonly finished_at: Instant | null;
  readonly fence: Readonly<Record<string, number>>;
  readonly due: number;
  readonly dropped: number;
  readonly kept: Readonly<Record<string, number>>;
  readonly failed: number;
  readonly held_reason: string | null;
  readonly capped: boolean;
  readonly outcomes?: readonly {
    readonly table_id: string;
    readonly name: string;
    readonly outcome: string;
    readonly reason: string | null;
    readonly issued_at: Instant;
    readonly answered_at: Instant | null;
  }[];
};

export type SweepCandidate = ExpiringTable & { readonly environment: string };

/** A dry run has `would_drop`, any other run `sweep`. */
export type SweepRun = {
  readonly sweep: Sweep | null;
  readonly would_drop: readonly SweepCandidate[] | null;
};

export type DecisionRecord = {
  readonly id: string;
  readonly seq: number;
  readonly at: Instant;
  readonly type: string;
  readonly service: string;
  readonly tenant: string;
  readonly actor: string | null;
  readonly resource: {
    readonly kind: string;
    readonly id: string;
    readonly name: string;
    readonly environment: string | null;
  };
  readonly outcome: "done" | "kept" | "refused" | "failed";
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly run_id: string | null;
  readonly trace_id: string | null;
  readonly hash: string;
};

export type DecisionFilter = {
  readonly type?: string;
  readonly resource?: string;
  readonly actor?: string;
  readonly since?: Instant;
  readonly until?: Instant;
  readonly run_id?: string;
};

export type ChainVerification = {
  readonly ok: boolean;
  readonly records: number;
  readonly head_hash: string;
  readonly broken_at_seq: number | null;
  readonly fault: string | null;
  readonly gaps: readonly { readonly source: string; readonly from: number; readonly to: number }[];
};

export type SystemStatus = {
  readonly services: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly detail: string;
  }[];
  readonly evaluator: {
    readonly folds: readonly {
      readonly stream: string;
      readonly folded: number;
      readonly last: number;
      readonly broker_reachable: boolean;
      readonly missing: number;
    }[];
    readonly sweeps: {
      readonly paused: boolean;
      readonly paused_by: string | null;
      readonly pause_reason: string | null;
      readonly interval_seconds: number;
      readonly next_at: Instant | null;
      readonly last: Sweep | null;
      readonly scheduler: string | null;
    };
  } | null;
  readonly outboxes: readonly {
    readonly service: string;
    readonly unsent: number;
    readonly oldest_unsent_at: Instant | null;
  }[];
};

/** A message set aside because it could not be handled. */
export type ParkedMessage = {
  readonly id: string;
  readonly stream: string;
  readonly subject: string;
  readonly reason: string;
  readonly consumer: string | null;
  readonly deliveries: number;
  readonly parked_at: Instant;
};
