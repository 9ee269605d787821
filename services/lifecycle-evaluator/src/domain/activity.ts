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

/** The reads of one table on one day (`YYYY-MM-DD`, UTC) by one system. */
export interface ReadCount {
  readonly day: string;
  readonly source: string;
  reads: number;
  /** ms since the epoch. */
  lastAt: number;
}

/** What one batch says about one table. Times are ms since the epoch; null: nothing of that sort. */
export interface TableActivity {
  lastReadAt: number | null;
  lastActivityAt: number;
  lastActivityKind: ActivityKind;
  readonly reads: ReadCount[];
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
export function tally(activities: ActivityTally, { tableId, kind, at }: Activity): TableActivity {
  const known = activities.get(tableId);
  const lastReadAt = kind === "read" ? at : null;
  if (known === undefined) {
    const first = { lastReadAt, lastActivityAt: at, lastActivityKind: kind, reads: [] };
    activities.set(tableId, first);
    return first;
  }
  if (isLater(at, kind, known.lastActivityAt, known.lastActivityKind)) {
    known.lastActivityAt = at;
    known.lastActivityKind = kind;
  }
  if (lastReadAt !== null && (known.lastReadAt === null || lastReadAt > known.lastReadAt)) {
    known.lastReadAt = lastReadAt;
  }
  return known;
}

/** Counts one read for the history of reads per day (T17), besides as activity. */
export function tallyRead(
  activities: ActivityTally,
  {
    tableId,
    at,
    source,
  }: { readonly tableId: string; readonly at: number; readonly source: string },
): void {
  const { reads } = tally(activities, { tableId, kind: "read", at });
  const day = utcDay(at);
  const same = reads.find((count) => count.day === day && count.source === source);
  if (same === undefined) {
    reads.push({ day, source, reads: 1, lastAt: at });
  } else {
    same.reads += 1;
    same.lastAt = Math.max(same.lastAt, at);
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

const DAY_MS = 86_400_000;
let lastDay = { number: Number.NaN, text: "" };

/** Most events of a batch fall on one day, and writing it out costs more than the rest of counting a read. */
function utcDay(at: number): string {
  const number = Math.floor(at / DAY_MS);
  if (number !== lastDay.number) {
    lastDay = { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) };
  }
  return lastDay.text;
}
