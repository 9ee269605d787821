import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { ActivityBatchSchema } from "@lapse/proto/events";
import fc from "fast-check";
import { MAX_ACTIVITIES, type ReportedActivity } from "../domain/activity-message.ts";
import { unpack } from "../domain/packed-activities.ts";
import { readPackedActivities } from "./activity-packed.ts";
import { readActivityBytes } from "./activity-wire.ts";

/** A byte order mark is left to be read one by one. */
const text = fc.string({ unit: "binary" }).filter((given) => !given.startsWith("\ufeff"));
const byId = fc.record(
  {
    tableId: fc.uuid({ version: [1, 4, 7, 8] }),
    occurredAt: fc.integer({ min: 0, max: 4e12 }).map((ms) => timestampFromMs(ms)),
    source: fc.oneof(fc.constantFrom("trino", "spark"), text),
    actor: fc.string(),
  },
  { requiredKeys: ["tableId"] },
);
const bytesOf = (events: readonly object[]) =>
  toBinary(ActivityBatchSchema, create(ActivityBatchSchema, { events: [...events] }));
const lowerCase = (activities: readonly ReportedActivity[]) =>
  activities.map((each) => ({ ...each, tableId: each.tableId.toLowerCase() }));

describe("readPackedActivities", () => {
  test("reads a batch by id as it is read one by one", () => {
    fc.assert(
      fc.property(fc.array(byId, { minLength: 1, maxLength: 9 }), (events) => {
        const bytes = bytesOf(events);
        const packed = readPackedActivities(bytes);
        expect(packed && unpack(packed)).toEqual(readActivityBytes(bytes));
      }),
    );
  });

  test("reads nothing of damaged bytes that is not read one by one, and always comes to an end", () => {
    const damaged = fc
      .tuple(fc.array(byId, { minLength: 1, maxLength: 3 }), fc.nat(), fc.nat({ max: 255 }))
      .map(([events, at, value]) => {
        const bytes = bytesOf(events);
        bytes[at % bytes.length] = value;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 90 })), (bytes) => {
        const packed = readPackedActivities(bytes);
        if (packed !== null) expect(unpack(packed)).toEqual(lowerCase(readActivityBytes(bytes)));
      }),
      { numRuns: 5_000 },
    );
  });

  const id = "01890a5d-ac96-774b-bcce-b302099a8057";
  test.each([
    ["a name", [{ table: { environment: "dev", name: "bronze.trial" } }]],
    ["both an id and a name", [{ tableId: id, table: { environment: "dev", name: "a.b" } }]],
    ["no id", [{ source: "trino" }]],
    ["something else for an id", [{ tableId: id }, { tableId: id.replace("01", "x1") }]],
    ["an id of no version there is", [{ tableId: "01890a5d-ac96-974b-bcce-b302099a8057" }]],
    ["a time before 1970", [{ tableId: id, occurredAt: timestampFromMs(-1) }]],
    ["a byte order mark in a source", [{ tableId: id, source: "\ufefftrino" }]],
    ["nothing", []],
    [
      "more than a batch takes",
      Array.from({ length: MAX_ACTIVITIES + 1 }, () => ({ tableId: id })),
    ],
  ])("leaves a batch with %s to be read one by one", (_, events) => {
    expect(readPackedActivities(bytesOf(events))).toBeNull();
  });
});
