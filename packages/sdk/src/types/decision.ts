import { recordReader } from "../read-record.ts";

/** A decision as it is recorded, taken or refused. */
export type DecisionRecord = {
  readonly id: string;
  /** Position in the tenant's chain, from 1, without gaps. */
  readonly seq: number;
  readonly at: Date;
  /** E.g. `TABLE_DROPPED`. */
  readonly type: string;
  readonly service: string;
  readonly tenant: string;
  /** Null: a worker decided by itself. */
  readonly actor: string | null;
  readonly resource: {
    readonly kind: string;
    readonly id: string;
    readonly name: string;
    readonly environment: string | null;
  };
  readonly outcome: "done" | "kept" | "refused" | "failed";
  readonly reason: string;
  /** By type; as recorded, so times in it are text. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly run_id: string | null;
  readonly trace_id: string | null;
  /** Over the record before it and this one. */
  readonly hash: string;
};

export const readDecision = recordReader<DecisionRecord>({ at: "instant" });

/** All that is given must hold. */
export type DecisionFilter = {
  readonly type?: string;
  /** Id or name of what it was about. */
  readonly resource?: string;
  readonly actor?: string;
  readonly since?: Date;
  readonly until?: Date;
  /** Of the sweep that decided. */
  readonly run_id?: string;
};

/** Whether the caller's chain of decisions is whole. */
export type ChainVerification = {
  readonly ok: boolean;
  readonly records: number;
  readonly head_hash: string;
  /** The first record that does not fit. */
  readonly broken_at_seq: number | null;
  readonly fault: string | null;
  /** Decisions that a service has sent and that have not arrived. */
  readonly gaps: readonly { readonly source: string; readonly from: number; readonly to: number }[];
};
