import { describe, expect, test } from "@jest/globals";
import { aDrop, aTable, DAY_MS, daysBefore, NOW } from "../../test/builders.ts";
import { dropExpired } from "./drop.ts";
import { filesMissing, undropTable } from "./undrop.ts";

const dropped = aTable({ state: "dropped", drop: aDrop({ undoUntil: daysBefore(-1) }) });

describe("undropTable", () => {
  test("T28 gives back the table as it was before the drop, with its clock reset", () => {
    const before = aTable();
    const back = undropTable(
      dropExpired(before, daysBefore(1), { undoDays: 7, dayMs: DAY_MS }),
      NOW,
    );
    expect(back).toEqual({
      ok: true,
      value: {
        ...before,
        changeVersion: 9n,
        retentionVersion: 9n,
        lastChangedAt: NOW,
        restoredAt: NOW,
      },
    });
  });

  test("T29 comes back under another name", () => {
    expect(undropTable(dropped, NOW, "trial_2")).toMatchObject({ value: { name: "trial_2" } });
  });

  test("T30 is refused from the end of the undo period on", () => {
    const until = dropped.drop?.undoUntil ?? NOW;
    expect(undropTable(dropped, new Date(until.getTime() - 1))).toMatchObject({ ok: true });
    expect(undropTable(dropped, until)).toMatchObject({ refusal: { reason: "UNDO_PERIOD_OVER" } });
  });

  test.each([
    ["purging", "TABLE_PURGING"],
    ["purged", "UNDO_PERIOD_OVER"],
    ["live", "TABLE_NOT_DROPPED"],
    ["staged", "TABLE_NOT_DROPPED"],
  ] as const)("T30 is refused on a %s table, saying so", (state, reason) => {
    expect(undropTable({ ...dropped, state }, NOW)).toMatchObject({ refusal: { reason } });
  });
});

describe("filesMissing", () => {
  test("T28 says how many files cannot be read, and which is the first", () => {
    const faults = [
      { path: "a.parquet", fault: "is not in the object store" },
      { path: "b.parquet", fault: "is not in the object store" },
    ];
    expect(filesMissing(dropped, faults).refusal).toMatchObject({
      reason: "FILES_MISSING",
      details: { unreadable_files: "2", first_file: "a.parquet" },
    });
  });
});
