/**
 * What happened to a table last (T13). At the same instant the alphabetically later one is shown, so order
 * plays no part.
 */
export type ActivityKind = "read" | "written" | "maintained" | "changed" | "created" | "restored";

/** One use or change of a table. `at` is in ms since the epoch. */
export interface Activity {
  readonly tableId: string;
  readonly kind: ActivityKind;
  readonly at: number;
}

/** What one batch says about one table. Times are ms since the epoch; null: nothing of that sort. */
export interface TableActivity {
  lastReadAt: number | null;
  lastActivityAt: number;
  lastActivityKind: ActivityKind;
}

/**
 * The activity of a batch of messages, at most one entry per table: what the fold writes, whatever the
 * order of the messages.
 */
export type ActivityTally = Map<string, TableActivity>;

/**
 * Counts one activity; nothing but the latest of its kind is kept. `lastReadAt` of a tally only reads move
 * (T17).
 */
export function tally(activities: ActivityTally, { tableId, kind, at }: Activity): void {
  const known = activities.get(tableId);
  const lastReadAt = kind === "read" ? at : null;
  if (known === undefined) {
    activities.set(tableId, { lastReadAt, lastActivityAt: at, lastActivityKind: kind });
    return;
  }
  if (isLater(at, kind, known.lastActivityAt, known.lastActivityKind)) {
    known.lastActivityAt = at;
    known.lastActivityKind = kind;
  }
  if (lastReadAt !== null && (known.lastReadAt === null || lastReadAt > known.lastReadAt)) {
    known.lastReadAt = lastReadAt;
  }
}

/** Whether the first of two activities, each given by its time and kind, is the one to be shown. */
export function isLater(
  at: number,
  kind: ActivityKind,
  thanAt: number,
  thanKind: ActivityKind,
): boolean {
  return at > thanAt || (at === thanAt && kind > thanKind);
}
