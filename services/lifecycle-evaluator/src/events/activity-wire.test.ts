import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { ActivityBatchSchema, type TableActivity, TableActivitySchema } from "@lapse/proto/events";
import fc from "fast-check";
import type { ReportedActivity } from "../domain/activity-message.ts";
import { readActivityBytes } from "./activity-wire.ts";

const name = fc.record({ tenant: fc.string(), environment: fc.string(), name: fc.string() });
const activity = fc.record(
  {
    tableId: fc.oneof(fc.uuid(), fc.string({ unit: "binary" })),
    table: name,
    occurredAt: fc.integer({ min: -1e12, max: 4e12 }).map((ms) => timestampFromMs(ms)),
    source: fc.string({ unit: "binary" }),
    actor: fc.string(),
  },
  { requiredKeys: [] },
);

/** What the generated code makes of the same bytes. */
const plain = ({ tableId, table, occurredAt, source }: TableActivity): ReportedActivity => ({
  tableId,
  table: table ? { tenant: table.tenant, environment: table.environment, name: table.name } : null,
  occurredAt: occurredAt
    ? Number(occurredAt.seconds) * 1_000 + Math.floor(occurredAt.nanos / 1e6)
    : null,
  source,
});

describe("readActivityBytes", () => {
  test("reads a single activity as the generated code does", () => {
    fc.assert(
      fc.property(activity, (init) => {
        const bytes = toBinary(TableActivitySchema, create(TableActivitySchema, init));
        expect(readActivityBytes(bytes)).toEqual([plain(fromBinary(TableActivitySchema, bytes))]);
      }),
    );
  });

  test("reads a batch as the generated code does", () => {
    fc.assert(
      fc.property(fc.array(activity, { minLength: 1, maxLength: 9 }), (events) => {
        const bytes = toBinary(ActivityBatchSchema, create(ActivityBatchSchema, { events }));
        expect(readActivityBytes(bytes)).toEqual(
          fromBinary(ActivityBatchSchema, bytes).events.map(plain),
        );
      }),
    );
  });

  test("reads the same out of damaged bytes as the generated code where both can read them, and always comes to an end", () => {
    const damaged = fc
      .tuple(fc.array(activity, { minLength: 1, maxLength: 3 }), fc.nat(), fc.nat({ max: 255 }))
      .map(([events, at, value]) => {
        const bytes = toBinary(ActivityBatchSchema, create(ActivityBatchSchema, { events }));
        if (bytes.length > 0) bytes[at % bytes.length] = value;
        return bytes;
      });
    const attempt = <T>(read: () => T): T | "refused" => {
      try {
        return read();
      } catch {
        return "refused";
      }
    };
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 60 })), (bytes) => {
        const read = attempt(() => readActivityBytes(bytes));
        const batch = attempt(() => fromBinary(ActivityBatchSchema, bytes).events.map(plain));
        const single = attempt(() => [plain(fromBinary(TableActivitySchema, bytes))]);
        // It does not look into the fields it passes over, so it may read what the generated code refuses.
        if (read === "refused" || batch === "refused" || single === "refused") return;
        expect([batch, single]).toContainEqual(read);
      }),
      { numRuns: 2_000 },
    );
  });

  test("passes over fields that a newer publisher may send", () => {
    const bytes = new BinaryWriter()
      .tag(40, WireType.LengthDelimited)
      .string("new")
      .tag(1, WireType.LengthDelimited)
      .string("id")
      .tag(41, WireType.Varint)
      .uint32(7)
      .finish();
    expect(readActivityBytes(bytes)).toMatchObject([{ tableId: "id" }]);
  });

  test("a field of another wire type is refused", () => {
    const bytes = new BinaryWriter().tag(1, WireType.Varint).uint32(7).finish();
    expect(() => readActivityBytes(bytes)).toThrow(/wire type/);
  });

  test("T14 stops at the most a batch may carry", () => {
    const writer = new BinaryWriter();
    for (let nth = 0; nth <= 10_000; nth++)
      writer.tag(15, WireType.LengthDelimited).bytes(new Uint8Array());
    expect(() => readActivityBytes(writer.finish())).toThrow(/10000/);
  });
});
