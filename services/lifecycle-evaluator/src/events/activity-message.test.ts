import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import type { Delivery } from "@lapse/kit";
import { ActivityBatchSchema } from "@lapse/proto/events";
import fc from "fast-check";
import type { ActivityMessage, ReportedActivity } from "../domain/activity-message.ts";
import { activityPart, readActivityMessage } from "./activity-message.ts";
import { readActivityBytes } from "./activity-wire.ts";

const STORED = Date.parse("2026-05-01T00:00:00.000Z");
const message = (activities: readonly ReportedActivity[]): ActivityMessage => ({
  kind: "read",
  storedAt: STORED,
  sender: "https://spark.example",
  activities,
});
const activity = (given: Partial<ReportedActivity> = {}): ReportedActivity => ({
  tableId: "",
  table: null,
  occurredAt: null,
  source: "",
  ...given,
});

describe("activityPart", () => {
  test("says when it happened and who saw it, which the message alone said before", () => {
    const { body } = activityPart(message([]), [activity({ tableId: "a" })]);
    const [event] = fromBinary(ActivityBatchSchema, body).events;
    expect(event?.source).toBe("https://spark.example");
    expect(event?.occurredAt && timestampDate(event.occurredAt)).toEqual(new Date(STORED));
  });

  test("can be written and read again, whatever was reported", () => {
    const reported = fc.record({
      tableId: fc.string(),
      table: fc.option(
        fc.record({ tenant: fc.string(), environment: fc.string(), name: fc.string() }),
      ),
      occurredAt: fc.option(fc.double({ min: -1e22, max: 1e22, noNaN: true }).map(Math.trunc)),
      source: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(reported, { minLength: 1, maxLength: 5 }), (activities) => {
        const read = readActivityBytes(activityPart(message(activities), activities).body);
        expect(read.map(({ tableId, table }) => ({ tableId, table }))).toEqual(
          activities.map(({ tableId, table }) => ({ tableId, table })),
        );
        for (const [index, { occurredAt }] of activities.entries()) {
          const again = read[index]?.occurredAt ?? Number.NaN;
          const before = occurredAt ?? STORED;
          // In the years there are it is the same; outside of them it stays on its side.
          expect(Math.abs(before) < 1e12 ? again : Math.sign(again)).toBe(
            Math.abs(before) < 1e12 ? before + 0 : Math.sign(before),
          );
        }
      }),
    );
  });
});

describe("readActivityMessage", () => {
  const read = (subject: string, body: Uint8Array | string) =>
    // Only what reading uses of a delivery.
    readActivityMessage({
      subject,
      body: typeof body === "string" ? new TextEncoder().encode(body) : body,
      storedAt: new Date(STORED),
      event: { contentType: "", source: "sender" },
      decode: () => {
        throw new Error("only JSON is decoded by the delivery");
      },
    } as unknown as Delivery);

  test("takes what happened from the subject", () => {
    expect(read("activity.table.maintained", new Uint8Array())).toMatchObject({
      kind: "maintained",
      storedAt: STORED,
      sender: "sender",
      activities: [{ tableId: "" }],
    });
  });

  test("passes over activity on files", () => {
    expect(read("activity.file.written", new Uint8Array())).toBeNull();
  });

  test.each([
    ["activity.table.painted", new Uint8Array(), "EVENT_UNUSABLE"],
    ["activity.table.read", Uint8Array.of(0x0a, 0x05), "EVENT_UNREADABLE"],
    ["activity.table.read", "{", "EVENT_UNREADABLE"],
  ])("%s with %j is refused", (subject, body, reason) => {
    expect(() => read(subject, body)).toThrow(expect.objectContaining({ kind: "invalid", reason }));
  });
});
