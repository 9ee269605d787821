/** An environment with fewer live managed tables is never held back: there a few tables are a large share. */
export const LEAST_TABLES = 20;

/** How much of an environment is due. */
export interface EnvironmentLoad {
  readonly environmentId: string;
  readonly environment: string;
  readonly tenant: string;
  /** Tables that are due and that no confirmation covers. */
  readonly due: number;
  /** Tables that are due and that one covers. */
  readonly covered: number;
  /** Live managed tables; exact where they are few enough to matter. */
  readonly tables: number;
}

/** A hold of the breaker that has not ended. */
export interface OpenHold {
  readonly holdId: string;
  readonly tenant: string;
  readonly environmentId: string;
  /** Up to which expiry a confirmation covers. */
  readonly horizon: Date;
  readonly confirmed: boolean;
}

/** What the breaker makes of some environments. */
export interface BreakerVerdict {
  /** Those that are held from now on and were not before. */
  readonly raise: readonly EnvironmentLoad[];
  /** Holds that are over: nobody needs to confirm them any more … */
  readonly fallen: readonly string[];
  /** … or all that was confirmed is done. */
  readonly done: readonly string[];
  /** All that are held back. */
  readonly held: readonly EnvironmentLoad[];
  /** Of those that are held back, up to which expiry tables are served nevertheless; null: none is. */
  readonly limits: ReadonlyMap<string, Date | null>;
}

/** Whether so many due tables of an environment are more than somebody may have meant (T26). */
export function isTooMuch(
  { due, tables }: Pick<EnvironmentLoad, "due" | "tables">,
  share: number,
): boolean {
  return tables >= LEAST_TABLES && due / tables > share;
}

/** The fewest due tables that can be too much. */
export const fewestTooMuch = (share: number): number => Math.floor(LEAST_TABLES * share) + 1;

/** Whether there is a breaker at all: more than all of an environment is never due. */
export const hasBreaker = (share: number): boolean => share < 1;

/** Up to which expiry each environment is confirmed. */
export function confirmedUntil(holds: readonly OpenHold[]): ReadonlyMap<string, Date> {
  const until = new Map<string, Date>();
  for (const { environmentId, horizon, confirmed } of holds) {
    const known = until.get(environmentId);
    if (confirmed && (known === undefined || horizon > known)) {
      until.set(environmentId, horizon);
    }
  }
  return until;
}

/**
 * Which environments are held back, and which holds are over. An environment that is not among the loads has
 * nothing that counts. A confirmation covers what was due when its hold was raised, however many sweeps that takes:
 * it is over once nothing of it is left, so a table that comes by an old expiry later is counted afresh.
 */
export function judge(
  loads: readonly EnvironmentLoad[],
  holds: readonly OpenHold[],
  share: number,
): BreakerVerdict {
  const until = confirmedUntil(holds);
  const byId = new Map(loads.map((load) => [load.environmentId, load]));
  const held = loads.filter((load) => hasBreaker(share) && isTooMuch(load, share));
  const heldIds = new Set(held.map(({ environmentId }) => environmentId));
  const waiting = holds.filter(({ confirmed }) => !confirmed);
  const waitingIds = new Set(waiting.map(({ environmentId }) => environmentId));
  const isDone = ({ environmentId, horizon }: OpenHold): boolean =>
    (byId.get(environmentId)?.covered ?? 0) === 0 ||
    horizon.getTime() < (until.get(environmentId)?.getTime() ?? 0);
  return {
    raise: held.filter(({ environmentId }) => !waitingIds.has(environmentId)),
    fallen: waiting
      .filter(({ environmentId }) => !heldIds.has(environmentId))
      .map(({ holdId }) => holdId),
    done: holds.filter((hold) => hold.confirmed && isDone(hold)).map(({ holdId }) => holdId),
    held,
    limits: new Map(held.map(({ environmentId: id }) => [id, until.get(id) ?? null])),
  };
}
