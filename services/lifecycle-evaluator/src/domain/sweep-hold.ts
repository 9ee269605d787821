/** A guard that keeps sweeps from a tenant's tables until somebody confirms that it is meant (T26). */
export interface SweepHold {
  /** UUIDv7: by time. Empty in a dry run, for one that a sweep would raise. */
  readonly holdId: string;
  /** The clock holds all of the tenant, the breaker one environment. */
  readonly kind: "clock" | "breaker";
  readonly tenant: string;
  readonly breaker: BreakerReading | null;
  readonly clock: ClockReading | null;
  readonly raisedAt: Date;
  /** Null: nobody has. */
  readonly confirmedBy: string | null;
  readonly confirmedAt: Date | null;
  /** Whether it is over, by itself or because all that was confirmed is done. */
  readonly ended: boolean;
}

/** What the breaker counted. */
interface BreakerReading {
  readonly environmentId: string;
  readonly environment: string;
  /** Tables that are due and not confirmed. */
  readonly due: number;
  /** Live managed tables. */
  readonly tables: number;
  /** Above which it holds. */
  readonly share: number;
}

/** What the database clock said. */
interface ClockReading {
  readonly lastSeenAt: Date;
  readonly now: Date;
}
