import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { MAX_ACTIVITIES, type ReportedActivity } from "../domain/activity-message.ts";
import { unusable } from "./event-fields.ts";

type Changeable<T> = { -readonly [K in keyof T]: T[K] };

/** Of `ActivityBatch.events`; `TableActivity` reserves it. */
const EVENTS = 15;

/**
 * The activities in a protobuf body: an `ActivityBatch` where it holds field 15, else one `TableActivity`.
 * Reads only what the fold needs, five times as fast as the generated code: decoding is most of what
 * folding activity costs.
 *
 * @throws invalid `EVENT_UNUSABLE` for a batch that is too large; anything else for a body that is not such
 *   a message.
 */
export function readActivityBytes(body: Uint8Array): ReportedActivity[] {
  const reader = new BinaryReader(body);
  const batch: ReportedActivity[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field !== EVENTS) {
      reader.skip(type, field);
      continue;
    }
    expect(type, WireType.LengthDelimited);
    if (batch.length === MAX_ACTIVITIES) {
      throw unusable(`a batch takes ${MAX_ACTIVITIES} activities at most`);
    }
    batch.push(readActivity(reader, endOf(reader)));
  }
  return batch.length > 0 ? batch : [readActivity(new BinaryReader(body), body.length)];
}

function readActivity(reader: BinaryReader, end: number): ReportedActivity {
  const activity: Changeable<ReportedActivity> = {
    tableId: "",
    table: null,
    occurredAt: null,
    source: "",
  };
  while (reader.pos < end) {
    const [field, type] = reader.tag();
    switch (field) {
      case 1:
        expect(type, WireType.LengthDelimited);
        activity.tableId = reader.string(true);
        break;
      case 2:
        expect(type, WireType.LengthDelimited);
        activity.table = readName(reader, endOf(reader), activity.table);
        break;
      case 3:
        expect(type, WireType.LengthDelimited);
        activity.occurredAt = readTimestamp(reader, endOf(reader));
        break;
      case 4:
        expect(type, WireType.LengthDelimited);
        activity.source = reader.string(true);
        break;
      default:
        reader.skip(type, field);
    }
  }
  return finished(reader, end, activity);
}

function readName(
  reader: BinaryReader,
  end: number,
  before: ReportedActivity["table"],
): ReportedActivity["table"] {
  // A message field that comes twice is one message.
  const name = { tenant: "", environment: "", name: "", ...before };
  while (reader.pos < end) {
    const [field, type] = reader.tag();
    if (field < 1 || field > 3) {
      reader.skip(type, field);
      continue;
    }
    expect(type, WireType.LengthDelimited);
    const text = reader.string(true);
    if (field === 1) name.tenant = text;
    else if (field === 2) name.environment = text;
    else name.name = text;
  }
  return finished(reader, end, name);
}

function readTimestamp(reader: BinaryReader, end: number): number {
  let seconds = 0;
  let nanos = 0;
  while (reader.pos < end) {
    const [field, type] = reader.tag();
    if (field !== 1 && field !== 2) {
      reader.skip(type, field);
      continue;
    }
    expect(type, WireType.Varint);
    if (field === 1) seconds = Number(reader.int64());
    else nanos = reader.int32();
  }
  return finished(reader, end, seconds * 1000 + Math.floor(nanos / 1e6));
}

function endOf(reader: BinaryReader): number {
  const length = reader.uint32();
  return reader.pos + length;
}

function expect(type: WireType, wanted: WireType): void {
  if (type !== wanted) {
    throw new Error(`a field has the wire type ${type} in place of ${wanted}`);
  }
}

/** A message whose last field runs over its end is damaged. */
function finished<T>(reader: BinaryReader, end: number, value: T): T {
  if (reader.pos !== end) {
    throw new Error("a message ends in the middle of a field");
  }
  return value;
}
