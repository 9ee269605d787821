/** A held sweep is tried again after this, where the schedule would wait longer. */
const RETRY_HELD_SECONDS = 30;

/** What decides when the schedule starts a sweep. */
export interface ScheduleFacts {
  /** 0: never (T23). */
  readonly intervalSeconds: number;
  readonly paused: boolean;
  /** Null: none has started yet. */
  readonly lastStartedAt: Date | null;
  /** Whether that one was held, and so has dropped nothing. */
  readonly lastHeld: boolean;
}

/**
 * When the schedule starts the next sweep, on the database clock; null: it does not. Without a first one:
 * at once, the epoch.
 */
export function nextSweepAt(facts: ScheduleFacts): Date | null {
  const { intervalSeconds, paused, lastStartedAt, lastHeld } = facts;
  if (intervalSeconds === 0 || paused) {
    return null;
  }
  if (lastStartedAt === null) {
    return new Date(0);
  }
  const wait = lastHeld ? Math.min(intervalSeconds, RETRY_HELD_SECONDS) : intervalSeconds;
  return new Date(lastStartedAt.getTime() + wait * 1000);
}

/**
 * Whether the schedule starts a sweep at `now` (T23). One that somebody has waited for since before the schedule's
 * turn came goes first, so that neither keeps the other from ever running.
 */
export function isScheduleTurn(
  facts: ScheduleFacts,
  { now, waitingSince }: { readonly now: Date; readonly waitingSince: Date | null },
): boolean {
  const at = nextSweepAt(facts);
  return at !== null && at <= now && (waitingSince === null || at <= waitingSince);
}
