import { describe, expect, test } from "@jest/globals";
import { aDrop, aTable, daysBefore, NOW } from "../../test/builders.ts";
import { describeTable, touchTable } from "./table-changes.ts";

const gone = [
  ["dropped", "TABLE_DROPPED"],
  ["purging", "TABLE_PURGING"],
  ["purged", "TABLE_NOT_FOUND"],
] as const;

describe("touchTable", () => {
  test("T5 is activity and moves both versions to the same number", () => {
    const touched = touchTable(aTable(), NOW);
    expect(touched).toEqual({
      ok: true,
      value: aTable({ changeVersion: 8n, retentionVersion: 8n, lastChangedAt: NOW }),
    });
  });

  test("works before the first commit, so that a retention is in place by then", () => {
    expect(touchTable(aTable({ state: "staged" }), NOW)).toMatchObject({
      value: { state: "staged" },
    });
  });

  test("never moves the last change back, whatever the clock says", () => {
    const later = daysBefore(-1);
    const touched = touchTable(aTable({ lastChangedAt: later }), NOW);
    expect(touched).toMatchObject({ value: { lastChangedAt: later, changeVersion: 8n } });
  });

  test.each(gone)("is refused on a %s table", (state, reason) => {
    const table = aTable({ state, drop: aDrop() });
    expect(touchTable(table, NOW)).toMatchObject({ ok: false, refusal: { reason } });
  });
});

describe("describeTable", () => {
  test("T13 a new description is activity, and no change of retention", () => {
    expect(describeTable(aTable(), "trial data", NOW)).toEqual({
      ok: true,
      value: aTable({ description: "trial data", changeVersion: 8n, lastChangedAt: NOW }),
    });
  });

  test("the description it has already changes nothing", () => {
    const table = aTable({ description: "x" });
    expect(describeTable(table, "x", NOW)).toEqual({ ok: true, value: table });
  });

  test.each(gone)("is refused on a %s table", (state, reason) => {
    const table = aTable({ state, drop: aDrop() });
    expect(describeTable(table, "x", NOW)).toMatchObject({ ok: false, refusal: { reason } });
  });
});
