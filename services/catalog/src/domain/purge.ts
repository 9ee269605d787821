import type { Hold } from "./hold.ts";
import { isActive } from "./hold.ts";
import type { Table } from "./table.ts";
import { quietChange } from "./table-changes.ts";

const DAY_MS = 86_400_000;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 3_600_000;

/** From when a staged table without a commit is given up: a real day, or a retention day where that is longer. */
export const abandonedBefore = (now: Date, dayMs: number): Date =>
  new Date(now.getTime() - Math.max(DAY_MS, dayMs));

/** A staged table whose first commit never came, given up; undefined: not yet, or no more. */
export function abandonStaged(
  table: Table,
  holds: readonly Hold[],
  now: Date,
  dayMs: number,
): Table | undefined {
  const waiting = table.state === "staged" && table.createdAt <= abandonedBefore(now, dayMs);
  if (!waiting || holds.some((hold) => isActive(hold, now))) return undefined;
  return quietChange(table, { state: "purging" });
}

/** A table whose undo period is over, past the way back (T30); undefined: it is not, or was undropped. */
export function beginPurge(table: Table, now: Date): Table | undefined {
  if (table.state !== "dropped" || !table.drop || now < table.drop.undoUntil) return undefined;
  return quietChange(table, { state: "purging" });
}

/** A table whose files are deleted; undefined: it is not being purged. */
export function finishPurge(table: Table, now: Date): Table | undefined {
  return table.state === "purging"
    ? quietChange(table, { state: "purged", purgedAt: now })
    : undefined;
}

/** How long a purge waits after its nth failure in a row, in ms: 5 s, doubled up to an hour. */
export const purgeRetryMs = (attempts: number): number =>
  Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 20));
