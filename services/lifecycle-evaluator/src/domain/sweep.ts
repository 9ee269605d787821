export type SweepStatus = "requested" | "running" | "completed" | "held" | "interrupted";

/** Why a sweep dropped nothing. */
export type HeldReason =
  /** The broker is away, or what has reached the streams is not folded within the time for it. */
  | "signal_unavailable"
  /** Events of the catalog or of retention-policy are known to be missing. */
  | "signal_missing"
  /** An admin has paused the sweeps since this one was asked for. */
  | "paused"
  /** The database clock jumped, and nobody has confirmed it yet (T26). */
  | "clock";

/** A place in a stream up to which everything counted. */
export interface StreamPosition {
  readonly stream: string;
  readonly sequence: bigint;
}

/** One sweep (T25), with the counts of the tables of whoever reads it. */
export interface Sweep {
  /** UUIDv7: by time. */
  readonly sweepId: string;
  readonly status: SweepStatus;
  /** Whose tables it serves; `*`: everybody's. */
  readonly tenant: string;
  /** Empty: by the schedule, or not told to this reader. */
  readonly requestedBy: string;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly fence: readonly StreamPosition[];
  /** Tables issued. */
  readonly due: number;
  readonly dropped: number;
  /** By reason. */
  readonly kept: Readonly<Record<string, number>>;
  readonly failed: number;
  /** Whether the cap left tables to the next sweep. */
  readonly capped: boolean;
  /** Names of environments that the breaker held back. */
  readonly heldEnvironments: readonly string[];
  /** Empty: not held. */
  readonly heldReason: string;
}

/** What became of one table that a sweep issued. */
export interface SweepOutcome {
  readonly tableId: string;
  readonly tenant: string;
  readonly name: string;
  readonly outcome: "issued" | "dropped" | "kept" | "failed" | "unanswered";
  readonly reason: string;
  readonly issuedAt: Date;
  readonly answeredAt: Date | null;
}
