import { dayLength, type Expiry, expiryOf, isDue, later } from "@lapse/rules";
import type { TableFacts } from "./table-facts.ts";

/** When a table expires, and the activity that counts. */
export interface TableExpiry extends Expiry {
  /** No earlier than the floor of the signal, where activity may have been lost. */
  readonly lastActivityAt: Date | null;
}

const NOTHING_KNOWN: TableExpiry = {
  source: null,
  days: null,
  on: null,
  never: false,
  setBy: null,
  setAt: null,
  expiresAt: null,
  kept: null,
  lastActivityAt: null,
};

/**
 * When a table expires (T2), by the one arithmetic of `@lapse/rules`. A table the catalog has not spoken
 * of, or that is dropped, does not expire.
 */
export function tableExpiry(facts: TableFacts): TableExpiry {
  const lastActivityAt = countedActivity(facts);
  const { kind, state } = facts;
  if (kind === null || state === "unknown" || lastActivityAt === null) {
    return NOTHING_KNOWN;
  }
  const expiry = expiryOf({
    kind,
    tableRule: facts.tableRule,
    environmentRule: facts.environmentRule,
    restoredAt: facts.restoredAt,
    lastActivityAt,
    environmentProtected: facts.environmentProtected,
    projectAsset: facts.projectAsset,
    dayLength: dayLength(facts.daySeconds),
  });
  const mayExpire = state === "live" || state === "staged";
  return { ...expiry, expiresAt: mayExpire ? expiry.expiresAt : null, lastActivityAt };
}

/** Whether a sweep at `now` may drop the table: it is live, and its expiry has come. */
export function isTableDue(facts: TableFacts, expiry: TableExpiry, now: Date): boolean {
  return facts.state === "live" && isDue(expiry, now);
}

function countedActivity({ lastActivityAt, signalFloorAt }: TableFacts): Date | null {
  if (lastActivityAt === null || signalFloorAt === null) {
    return lastActivityAt;
  }
  return later(lastActivityAt, signalFloorAt);
}
