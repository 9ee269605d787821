import { listReader, recordReader } from "../read-record.ts";
import { readSweep, readSweepHold, type Sweep, type SweepHold } from "./sweep.ts";

/** How the system does. A service that is away is in the list; the answer is there all the same. */
export type SystemStatus = {
  readonly services: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly detail: string;
  }[];
  /** Null while the evaluator does not answer, or to who may not read tables. */
  readonly evaluator: {
    readonly folds: readonly {
      readonly stream: string;
      readonly folded: number;
      readonly last: number;
      readonly broker_reachable: boolean;
      readonly missing: number;
    }[];
    readonly sweeps: SweepSchedule;
  } | null;
  /** Null while the catalog does not answer, or to who may not know. */
  readonly purges: PurgeState | null;
  readonly outboxes: readonly OutboxState[];
};

export type SweepSchedule = {
  readonly paused: boolean;
  readonly paused_by: string | null;
  readonly pause_reason: string | null;
  /** 0: sweeps are off, and nothing expires. */
  readonly interval_seconds: number;
  readonly next_at: Date | null;
  readonly last: Sweep | null;
  /** What waits for a confirmation, the first hundred; null: not known, or not for this caller. */
  readonly holds: readonly SweepHold[] | null;
  /** Which process holds the lease. */
  readonly scheduler: string | null;
};

export type PurgeState = {
  /** Dropped tables whose files are to be deleted. */
  readonly waiting: number;
  /** The database's clock has jumped: no files are deleted until it is confirmed. */
  readonly clock_hold: ClockHold | null;
};

export type ClockHold = {
  readonly raised_at: Date;
  readonly last_seen_at: Date;
  readonly now: Date;
  readonly confirmed_by: string | null;
};

export type OutboxState = {
  readonly service: string;
  readonly unsent: number;
  readonly oldest_unsent_at: Date | null;
};

const readSchedule = recordReader<SweepSchedule>(
  { next_at: "instant" },
  { last: readSweep, holds: listReader(readSweepHold) },
);
const readClockHold = recordReader<ClockHold>({
  raised_at: "instant",
  last_seen_at: "instant",
  now: "instant",
});
const readPurges = recordReader<PurgeState>({}, { clock_hold: readClockHold });
const readOutbox = recordReader<OutboxState>({ oldest_unsent_at: "instant" });
const readEvaluator = recordReader<NonNullable<SystemStatus["evaluator"]>>(
  {},
  { sweeps: readSchedule },
);

export const readSystemStatus = recordReader<SystemStatus>(
  {},
  { evaluator: readEvaluator, purges: readPurges, outboxes: listReader(readOutbox) },
);

/** A message set aside because it could not be handled. */
export type ParkedMessage = {
  readonly id: string;
  readonly stream: string;
  readonly subject: string;
  readonly reason: string;
  readonly consumer: string | null;
  readonly deliveries: number;
  readonly parked_at: Date;
};

export const readParkedMessage = recordReader<ParkedMessage>({ parked_at: "instant" });

/** Something used a table: by `table_id`, or by `environment` and `table` (T14). */
export type Activity = {
  readonly kind: "read" | "written" | "maintained" | "changed";
  readonly table_id?: string;
  readonly environment?: string;
  /** Dotted name, e.g. `bronze.trial`. */
  readonly table?: string;
  /** Absent: now. */
  readonly occurred_at?: Date;
  /** Which system saw it, e.g. `trino`. */
  readonly source?: string;
};
