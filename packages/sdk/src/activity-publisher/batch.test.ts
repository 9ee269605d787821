import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { ActivityBatchSchema } from "@lapse/proto/events";
import fc from "fast-check";
import { LapseInputError } from "../errors.ts";
import { Batch } from "./batch.ts";
import { checkUse, type TableUse, type UseKind } from "./table-use.ts";

const NOW = new Date("2026-11-30T12:00:00.123Z");
const ID = "0190f3a2-7c1e-7b1a-9d3e-5a2f4c6b8d10";
const OTHER = "0190f3a2-7c1e-7b1a-9d3e-5a2f4c6b8d11";
const at = (ms: number) => new Date(NOW.getTime() + ms);

function packed(kind: UseKind, uses: readonly TableUse[]) {
  const batch = new Batch(kind, 0);
  for (const use of uses) batch.add(checkUse(use, NOW));
  const body = batch.encode();
  const events = fromBinary(ActivityBatchSchema, body).events.map((event) => ({
    table: event.tableId || `${event.table?.environment}:${event.table?.name}`,
    at: event.occurredAt && timestampDate(event.occurredAt),
    actor: event.actor,
  }));
  return { batch, body, events };
}

describe("a batch", () => {
  test("T17 says every read, for each counts for its day", () => {
    const read = { tableId: ID, occurredAt: NOW };
    const { events, batch } = packed("read", [read, read, { ...read, occurredAt: at(5) }]);
    expect(events.map((event) => event.at)).toEqual([NOW, NOW, at(5)]);
    expect(batch.uses).toBe(3);
  });

  test.each(["written", "maintained", "changed"] as const)(
    "T13 says the latest of several %s of a table, which is all that is kept of them",
    (kind) => {
      const { events, batch } = packed(kind, [
        { tableId: ID, occurredAt: at(1) },
        { tableId: OTHER, occurredAt: at(0) },
        { tableId: ID.toUpperCase(), occurredAt: at(3) },
        { tableId: ID, occurredAt: at(2) },
      ]);
      expect(events).toEqual([
        { table: ID, at: at(3), actor: "" },
        { table: OTHER, at: at(0), actor: "" },
      ]);
      expect(batch.uses).toBe(4);
    },
  );

  test("keeps apart who made a change, and tables of the same name elsewhere", () => {
    const use = { environment: "dev", table: "bronze.trial" };
    const { events } = packed("written", [
      use,
      { ...use, actor: "ana" },
      { ...use, environment: "prod" },
      { ...use, tenant: "acme" },
    ]);
    expect(events).toHaveLength(4);
  });

  test("is never larger than it says, whatever is in it", () => {
    const use = fc.record({
      environment: fc.string({ minLength: 1, unit: "grapheme" }),
      table: fc.string({ unit: "grapheme" }).map((name) => `n.${name}x`),
      actor: fc.string({ unit: "grapheme" }),
      occurredAt: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
    });
    fc.assert(
      fc.property(fc.constantFrom("read", "written"), fc.array(use), (kind, uses) => {
        const usable = uses.filter(
          ({ table, environment }) => !`${table}${environment}`.includes("\0"),
        );
        const { batch, body } = packed(
          kind,
          usable.map((one) => ({ ...one, actor: one.actor.replaceAll("\0", "") })),
        );
        expect(body.length).toBeLessThanOrEqual(batch.bytes);
      }),
    );
  });
});

describe("a use", () => {
  test("without a time is of the moment it was told", () => {
    expect(packed("read", [{ tableId: ID }]).events[0]?.at).toEqual(NOW);
  });

  test.each<[string, TableUse]>([
    ["an id that is none", { tableId: "bronze.trial" }],
    ["an id of no version", { tableId: "0190f3a2-7c1e-0b1a-9d3e-5a2f4c6b8d10" }],
    ["a name without a namespace", { environment: "dev", table: "trial" }],
    ["no environment", { environment: "", table: "bronze.trial" }],
    ["a time that is none", { tableId: ID, occurredAt: new Date("x") }],
    ["a time before all years", { tableId: ID, occurredAt: new Date(-8.64e15) }],
    ["half a character", { environment: "dev", table: "bronze.\ud800" }],
    ["a NUL", { tableId: ID, actor: "a\0b" }],
    ["a name of a book's length", { environment: "dev", table: `b.${"x".repeat(5_000)}` }],
  ])("with %s is refused before it is sent", (_, use) => {
    expect(() => checkUse(use, NOW)).toThrow(LapseInputError);
  });
});
