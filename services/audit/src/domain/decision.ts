/** How a decision ended, as the API and the log write it. */
export const OUTCOMES = ["done", "kept", "refused", "failed"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A JSON value; numbers are doubles. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** What a decision was about. Fields that do not apply are empty. */
interface Resource {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly environment: string;
}

/** A decision as its service wrote it, and where it came from. */
export interface Decision {
  /** UUID, in lower case. */
  readonly id: string;
  readonly at: Date;
  /** UPPER_SNAKE_CASE, e.g. `TABLE_DROPPED`. */
  readonly type: string;
  readonly service: string;
  /** Names the chain it goes into. */
  readonly tenant: string;
  /** Empty where a worker decided. */
  readonly actor: string;
  readonly resource: Resource;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly details: JsonObject;
  /** Empty: no sweep, pass or run decided it. */
  readonly runId: string;
  readonly traceId: string;
  /** `ce-source` of its event. */
  readonly source: string;
  /** Its number among the source's decisions; null where the source does not number them. */
  readonly sourceSequence: bigint | null;
}

/** A decision in its tenant's chain. Hashes are 32 bytes. */
export interface DecisionRecord extends Decision {
  /** From 1, without gaps. */
  readonly seq: bigint;
  readonly recordedAt: Date;
  readonly prevHash: Uint8Array;
  readonly hash: Uint8Array;
}
