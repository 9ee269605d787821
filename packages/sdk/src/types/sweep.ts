import { listReader, recordReader } from "../read-record.ts";
import { readSweepCandidate, type SweepCandidate } from "./retention.ts";

export type Sweep = {
  readonly id: string;
  readonly status: "requested" | "running" | "completed" | "held" | "interrupted";
  /** Null: the schedule started it. */
  readonly requested_by: string | null;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  /** What had to be read of each stream first. */
  readonly fence: Readonly<Record<string, number>>;
  readonly due: number;
  readonly dropped: number;
  /** By reason. */
  readonly kept: Readonly<Record<string, number>>;
  readonly failed: number;
  readonly held_reason: string | null;
  /** Environments that the breaker held back (T26). */
  readonly held_environments: readonly string[];
  /** More are due; they are left to the next sweep. */
  readonly capped: boolean;
  /** Only of a sweep asked for by id: what became of each table. */
  readonly outcomes?: readonly SweepOutcome[];
};

export type SweepOutcome = {
  readonly table_id: string;
  readonly name: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly issued_at: Date;
  readonly answered_at: Date | null;
};

const readOutcome = recordReader<SweepOutcome>({ issued_at: "instant", answered_at: "instant" });

export const readSweep = recordReader<Sweep>(
  { started_at: "instant", finished_at: "instant" },
  { outcomes: listReader(readOutcome) },
);

/** A guard that stopped the sweep, for the caller's tenant, until somebody says that it is meant (T26). */
export type SweepHold = {
  /** Null for one that a dry run finds, which raises none. */
  readonly id: string | null;
  /** `clock`: the database's clock jumped; `breaker`: too large a share of an environment is due. */
  readonly kind: "clock" | "breaker";
  /** The environment that is held back; null for the clock, which holds all. */
  readonly environment: string | null;
  readonly raised_at: Date;
  /** breaker: how many tables are due, of how many, and the share above which it holds. */
  readonly due: number | null;
  readonly tables: number | null;
  readonly share: number | null;
  /** clock: what the database's clock said last, and what it said then. */
  readonly last_seen_at: Date | null;
  readonly now: Date | null;
  readonly confirmed_by: string | null;
  readonly confirmed_at: Date | null;
};

export const readSweepHold = recordReader<SweepHold>({
  raised_at: "instant",
  last_seen_at: "instant",
  now: "instant",
  confirmed_at: "instant",
});

/** What was confirmed; nothing where nothing was held. */
export type SweepConfirmed = {
  readonly holds: readonly SweepHold[];
  /** Whether purges waited for the clock, and go on now. */
  readonly purges: boolean;
};

export const readSweepConfirmed = recordReader<SweepConfirmed>(
  {},
  { holds: listReader(readSweepHold) },
);

/** A dry run has `would_drop` and `held`, any other run `sweep`. */
export type SweepRun = {
  readonly sweep: Sweep | null;
  readonly would_drop: readonly SweepCandidate[] | null;
  /** What would be held back. */
  readonly held: readonly SweepHold[] | null;
};

export const readSweepRun = recordReader<SweepRun>(
  {},
  {
    sweep: readSweep,
    would_drop: listReader(readSweepCandidate),
    held: listReader(readSweepHold),
  },
);
