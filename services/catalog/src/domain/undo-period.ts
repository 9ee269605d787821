import type { DropReason } from "./table.ts";

export interface UndoSettings {
  /** Retention days, 0 or more. */
  readonly undoDays: number;
  /** How long a retention day is, in ms. */
  readonly dayMs: number;
}

/** An expiry can always be undone for this long, in retention days, even where the setting is 0 (T27). */
const LEAST_DAYS_AFTER_EXPIRY = 1;

/** Until when a table dropped at `droppedAt` can be brought back. Stored with the drop; nothing moves it later. */
export function undoUntil(droppedAt: Date, reason: DropReason, settings: UndoSettings): Date {
  return new Date(droppedAt.getTime() + undoDays(reason, settings) * settings.dayMs);
}

/**
 * From when a file that a commit took out of its table may be deleted. It stays as long as a drop could be undone, and
 * at least a day: readers that opened the former snapshot finish, and a mistaken replace can be repaired.
 */
export function reclaimableBefore(now: Date, settings: UndoSettings): Date {
  return new Date(now.getTime() - undoDays("retention", settings) * settings.dayMs);
}

function undoDays(reason: DropReason, { undoDays }: UndoSettings): number {
  return reason === "retention" ? Math.max(undoDays, LEAST_DAYS_AFTER_EXPIRY) : undoDays;
}
