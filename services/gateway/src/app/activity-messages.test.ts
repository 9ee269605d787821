import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { ActivityBatchSchema } from "@lapse/proto/events";
import fc from "fast-check";
import { activityMessages, type TableUse } from "./activity-messages.ts";

const use = fc.record<TableUse>({
  kind: fc.constantFrom("read", "written", "maintained", "changed"),
  tableId: fc.uuid(),
  occurredAt: fc.option(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }), {
    nil: undefined,
  }),
  source: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
});
const ana = { subject: "ana", tenant: "local" };

describe("activityMessages (T14)", () => {
  test("hold every use exactly once, in order within its kind, at most 500 to a message", () => {
    fc.assert(
      fc.property(fc.array(use, { maxLength: 1_500, size: "max" }), (uses) => {
        const messages = activityMessages(uses, ana, "k");
        const decoded = messages.flatMap(({ kind, body }) => {
          const { events } = fromBinary(ActivityBatchSchema, body);
          expect(events.length).toBeGreaterThan(0);
          expect(events.length).toBeLessThanOrEqual(500);
          return events.map(({ tableId }) => ({ kind, tableId }));
        });
        for (const kind of ["read", "written", "maintained", "changed"]) {
          const ofKind = ({ kind: each }: { kind: string }) => each === kind;
          expect(decoded.filter(ofKind).map(({ tableId }) => tableId)).toEqual(
            uses.filter(ofKind).map(({ tableId }) => tableId),
          );
        }
      }),
      { numRuns: 20 },
    );
  });

  test("have ids that are the same for the same call, and for no other", () => {
    fc.assert(
      fc.property(fc.array(use, { minLength: 1, maxLength: 20 }), (uses) => {
        const ids = (...args: Parameters<typeof activityMessages>) =>
          activityMessages(...args).map(({ id }) => id);
        const base = ids(uses, ana, "k");
        expect(new Set(base).size).toBe(base.length);
        expect(ids(uses, ana, "k")).toEqual(base);
        for (const other of [
          ids(uses, ana, "k2"),
          ids(uses, { ...ana, subject: "rita" }, "k"),
          ids(uses, { ...ana, tenant: "other" }, "k"),
          ids(uses, ana, undefined),
          ids([...uses, ...uses], ana, "k"),
        ]) {
          expect(other.filter((id) => base.includes(id))).toEqual([]);
        }
      }),
    );
  });
});
