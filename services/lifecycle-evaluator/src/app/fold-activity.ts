import { isId, type Queryable } from "@lapse/kit";
import { type ActivityTally, tally } from "../domain/activity.ts";
import type {
  ActivityMessage,
  RefusedActivity,
  ReportedActivity,
} from "../domain/activity-message.ts";
import { clampToNow, EARLIEST_MS } from "../domain/event-time.ts";
import { type PackedActivities, unpack } from "../domain/packed-activities.ts";
import { readSource } from "../domain/read-source.ts";
import { ReadTally } from "../domain/read-tally.ts";
import { nameKey, parseTableName, type TableName } from "../domain/table-name.ts";
import { holdBasis } from "../store/basis.ts";
import { saveReads } from "../store/read-days.ts";
import { saveActivity } from "../store/table-activity.ts";
import { findTableIds } from "../store/table-names.ts";

/** Waits, for a short while, until the catalog's events that are on their stream by now are folded. */
export type AwaitCatalog = () => Promise<void>;

/** What became of a batch. */
export interface ActivityFolded {
  /** To be put aside: nothing else is lost by them. */
  readonly refused: readonly RefusedActivity[];
  /** Times that were for the future. */
  readonly clamped: number;
}

interface Reported {
  readonly message: ActivityMessage;
  readonly activity: ReportedActivity;
}

/**
 * Folds a batch of activity, in any order and as late as it comes: in one pass over the activities and one
 * statement per table of the database (T13, T14).
 */
export async function foldActivity(
  tx: Queryable,
  messages: readonly ActivityMessage[],
  awaitCatalog: AwaitCatalog,
): Promise<ActivityFolded> {
  const basis = await holdBasis(tx);
  const batch = new Batch(basis.now.getTime());
  const byName: Reported[] = [];
  for (const message of messages) {
    const { activities } = message;
    if ("ids" in activities && message.kind === "read") {
      batch.countReads(message, activities);
      continue;
    }
    for (const activity of "ids" in activities ? unpack(activities) : activities) {
      if (activity.tableId !== "") {
        batch.countById(message, activity);
      } else {
        byName.push({ message, activity });
      }
    }
  }
  if (byName.length > 0) {
    await countByName(tx, batch, byName, awaitCatalog);
  }
  for (const { tableId, at } of await saveReads(tx, batch.reads, basis)) {
    tally(batch.activities, { tableId, kind: "read", at });
  }
  await saveActivity(tx, batch.activities, basis);
  return { refused: batch.refused, clamped: batch.clamped };
}

async function countByName(
  tx: Queryable,
  batch: Batch,
  byName: readonly Reported[],
  awaitCatalog: AwaitCatalog,
): Promise<void> {
  const names = new Map<string, TableName>();
  const keyed = byName.map(({ message, activity }) => {
    const name = activity.table && parseTableName(activity.table);
    const key = name && nameKey(name);
    if (name && key) {
      names.set(key, name);
    }
    return { message, activity, key };
  });
  const ids = await findTableIds(tx, [...names.values()]);
  const unknown = [...names].filter(([key]) => !ids.has(key)).map(([, name]) => name);
  if (unknown.length > 0) {
    // The table may be so new that its own event, on another stream, has not been folded yet.
    await awaitCatalog();
    for (const [key, id] of await findTableIds(tx, unknown)) {
      ids.set(key, id);
    }
  }
  for (const { message, activity, key } of keyed) {
    if (key === null) {
      batch.refuse(
        message,
        activity,
        "it names no table: give table_id, or table with environment and name",
      );
      continue;
    }
    const tableId = ids.get(key);
    if (tableId === undefined) {
      batch.refuse(message, activity, "there is no live table of that name");
    } else {
      batch.count(message, activity, tableId);
    }
  }
}

/** What a batch comes to, while it is gone through. */
class Batch {
  /** All but reads. */
  readonly activities: ActivityTally = new Map();
  readonly reads = new ReadTally();
  readonly refused: RefusedActivity[] = [];
  clamped = 0;
  readonly #now: number;
  /** Names of sources as they come, and as they are stored. */
  readonly #sources = new Map<string, string>();

  constructor(now: number) {
    this.#now = now;
  }

  countById(message: ActivityMessage, activity: ReportedActivity): void {
    const tableId = activity.tableId.toLowerCase();
    if (isId(tableId)) {
      this.count(message, activity, tableId);
    } else {
      this.refuse(message, activity, "table_id is not an id");
    }
  }

  countReads(message: ActivityMessage, packed: PackedActivities): void {
    const sources = packed.sources.map((source) =>
      this.reads.sourceNumber(this.#source(source || message.sender)),
    );
    for (let nth = 0; nth < packed.length; nth += 1) {
      const given = packed.occurredAt[nth] ?? Number.NaN;
      const occurredAt = Number.isNaN(given) ? message.storedAt : given;
      const { at, clamped } = clampToNow(occurredAt, this.#now);
      this.clamped += Number(clamped);
      this.reads.addByWords(packed.ids, 4 * nth, at, sources[packed.source[nth] ?? 0] ?? 0);
    }
  }

  count(message: ActivityMessage, activity: ReportedActivity, tableId: string): void {
    const occurredAt = activity.occurredAt ?? message.storedAt;
    if (occurredAt < EARLIEST_MS) {
      this.refuse(message, activity, "occurred_at is before the year 1");
      return;
    }
    const { at, clamped } = clampToNow(occurredAt, this.#now);
    this.clamped += Number(clamped);
    if (message.kind === "read") {
      this.reads.add(tableId, at, this.#source(activity.source || message.sender));
    } else {
      tally(this.activities, { tableId, kind: message.kind, at });
    }
  }

  refuse(message: ActivityMessage, activity: ReportedActivity, reason: string): void {
    this.refused.push({ message, activity, reason });
  }

  #source(given: string): string {
    const known = this.#sources.get(given);
    if (known !== undefined) {
      return known;
    }
    const stored = readSource(given);
    this.#sources.set(given, stored);
    return stored;
  }
}
