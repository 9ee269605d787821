import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type Delivery,
  invalid,
  isJsonBody,
  LapseError,
  type ParkedPart,
  PROTOBUF,
  parseJsonBody,
} from "@lapse/kit";
import { ActivityBatchSchema, type TableActivity, TableActivitySchema } from "@lapse/proto/events";
import {
  type ActivityMessage,
  MAX_ACTIVITIES,
  REPORTED_KINDS,
  type ReportedActivity,
  type ReportedKind,
} from "../domain/activity-message.ts";
import { EARLIEST_MS, LATEST_MS } from "../domain/event-time.ts";
import { readPackedActivities } from "./activity-packed.ts";
import { readActivityBytes } from "./activity-wire.ts";
import { unusable } from "./event-fields.ts";

const TABLE_SUBJECT = "activity.table.";

/**
 * The activities of a message of `activity.>`; null for those on files, which are not the tables' fold's. A
 * batch and a single activity are told apart by their content (field 15, JSON key `events`); the subject
 * says what happened.
 *
 * @throws invalid `EVENT_UNREADABLE`, `EVENT_UNUSABLE`
 */
export function readActivityMessage(delivery: Delivery): ActivityMessage | null {
  const { subject, body, event } = delivery;
  if (!subject.startsWith(TABLE_SUBJECT)) {
    return null;
  }
  const kind = subject.slice(TABLE_SUBJECT.length);
  if (!isReportedKind(kind)) {
    throw unusable(`${JSON.stringify(kind)} is nothing that happens to a table`);
  }
  const activities = isJsonBody(body, event.contentType) ? readJson(delivery) : readBytes(body);
  if (activities.length > MAX_ACTIVITIES) {
    throw unusable(`a batch takes ${MAX_ACTIVITIES} activities at most`);
  }
  return { kind, storedAt: delivery.storedAt.getTime(), sender: event.source, activities };
}

function isReportedKind(kind: string): kind is ReportedKind {
  return REPORTED_KINDS.some((known) => known === kind);
}

function readBytes(body: Uint8Array): ActivityMessage["activities"] {
  try {
    return readPackedActivities(body) ?? readActivityBytes(body);
  } catch (cause) {
    if (cause instanceof LapseError) {
      throw cause;
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    throw invalid("EVENT_UNREADABLE", `the body is no activity: ${why}`, { cause });
  }
}

function readJson(delivery: Delivery): ReportedActivity[] {
  const json = parseJsonBody(delivery.body);
  const isBatch =
    typeof json === "object" && json !== null && !Array.isArray(json) && "events" in json;
  return isBatch
    ? delivery.decode(ActivityBatchSchema).events.map(reported)
    : [reported(delivery.decode(TableActivitySchema))];
}

function reported({ tableId, table, occurredAt, source }: TableActivity): ReportedActivity {
  return {
    tableId,
    table: table ?? null,
    occurredAt:
      occurredAt === undefined
        ? null
        : Number(occurredAt.seconds) * 1000 + Math.floor(occurredAt.nanos / 1e6),
    source,
  };
}

/**
 * Some activities of a message as a message of their own, which says no less than they did: when it was
 * stored, and by whom it was sent, is of another message once it is published again.
 */
export function activityPart(
  { storedAt, sender }: ActivityMessage,
  activities: readonly ReportedActivity[],
): ParkedPart {
  const events = activities.map(({ tableId, table, occurredAt, source }) => ({
    tableId,
    ...(table !== null && { table: { ...table } }),
    occurredAt: timestampFromMs(inReach(occurredAt ?? storedAt)),
    source: source || sender,
  }));
  const body = toBinary(ActivityBatchSchema, create(ActivityBatchSchema, { events }));
  return { body, contentType: PROTOBUF };
}

/** A time that can be written again: what lies outside of all years stays outside, or for the future. */
function inReach(ms: number): number {
  return Math.min(Math.max(ms, EARLIEST_MS - 1), LATEST_MS);
}
