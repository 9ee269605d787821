import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { LapseError } from "@lapse/kit";
import { DecisionOutcome, DecisionSchema } from "@lapse/proto/events";
import { toDecision } from "./decision.ts";

const ORIGIN = { source: "lapse.catalog", sourceSequence: 12n };
const AT = new Date("2026-03-01T00:00:00.123Z");

function message(change: MessageInitShape<typeof DecisionSchema> = {}) {
  return create(DecisionSchema, {
    id: "0197F3A0-0000-7000-8000-000000000001",
    at: timestampFromDate(AT),
    type: "TABLE_DROPPED",
    service: "catalog",
    tenant: "local",
    outcome: DecisionOutcome.DONE,
    ...change,
  });
}

function faultOf(change: MessageInitShape<typeof DecisionSchema>): string {
  try {
    toDecision(message(change), ORIGIN);
  } catch (error) {
    if (error instanceof LapseError && error.kind === "invalid") return error.message;
    throw error;
  }
  return "none";
}

describe("toDecision", () => {
  test("takes a decision with the least it must have, its id in lower case", () => {
    expect(toDecision(message(), ORIGIN)).toEqual({
      id: "0197f3a0-0000-7000-8000-000000000001",
      at: AT,
      type: "TABLE_DROPPED",
      service: "catalog",
      tenant: "local",
      actor: "",
      resource: { kind: "", id: "", name: "", environment: "" },
      outcome: "done",
      reason: "",
      details: {},
      runId: "",
      traceId: "",
      ...ORIGIN,
    });
  });

  test.each([
    [{ id: "7" }, "the decision's id is not a UUID"],
    [{ at: undefined }, "the decision's at is missing"],
    [{ type: "" }, "the decision's type is missing"],
    [{ tenant: "" }, "the decision's tenant is missing"],
    [{ tenant: "t".repeat(401) }, "the decision's tenant is longer than 400 bytes"],
    [
      { resource: { name: "é".repeat(1025) } },
      "the decision's resource.name is longer than 2048 bytes",
    ],
    [{ details: { a: [Number.NaN] } }, "the decision's details hold a number that is not finite"],
  ] as [MessageInitShape<typeof DecisionSchema>, string][])("refuses %o", (change, fault) => {
    expect(faultOf(change)).toBe(fault);
  });

  test.each([DecisionOutcome.UNSPECIFIED, 99])(
    "refuses outcome %s, which it cannot name",
    (outcome) => {
      expect(faultOf({ outcome: outcome as DecisionOutcome })).toContain(
        "the decision's outcome is",
      );
    },
  );

  test("replaces what the database cannot store, so that the record reads back as it was hashed", () => {
    const { actor, details } = toDecision(
      message({ actor: "a\u0000b", details: { "k\u0000": ["\ud800", { x: "😀" }] } }),
      ORIGIN,
    );
    expect(actor).toBe("a\uFFFDb");
    expect(details).toEqual({ "k\uFFFD": ["\uFFFD", { x: "😀" }] });
  });
});
