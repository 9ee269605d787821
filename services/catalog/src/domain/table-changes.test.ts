import { describe, expect, test } from "@jest/globals";
import { aDrop, aTable, daysBefore, NOW } from "../../test/builders.ts";
import { flipAsset, touchTable, updateTable } from "./table-changes.ts";

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

describe("updateTable", () => {
  test("T13 another description is activity, and no change of retention", () => {
    expect(updateTable(aTable(), { description: "trial data" }, NOW)).toEqual({
      ok: true,
      value: aTable({ description: "trial data", changeVersion: 8n, lastChangedAt: NOW }),
    });
  });

  test("T13 another name or namespace is activity, and moves nothing but the name", () => {
    expect(updateTable(aTable(), { name: "orders" }, NOW)).toEqual({
      ok: true,
      value: aTable({ name: "orders", changeVersion: 8n, lastChangedAt: NOW }),
    });
    expect(updateTable(aTable(), { namespace: "gold" }, NOW)).toEqual({
      ok: true,
      value: aTable({ namespace: "gold", changeVersion: 8n, lastChangedAt: NOW }),
    });
  });

  test("all of it at once is one change", () => {
    const wanted = { description: "x", namespace: "gold", name: "orders" };
    expect(updateTable(aTable(), wanted, NOW)).toEqual({
      ok: true,
      value: aTable({ ...wanted, changeVersion: 8n, lastChangedAt: NOW }),
    });
  });

  test("what it has already changes nothing", () => {
    const table = aTable({ description: "x" });
    const { namespace, name } = table;
    const wanted = { description: "x", namespace, name };
    expect(updateTable(table, wanted, NOW)).toEqual({ ok: true, value: table });
  });

  test.each(gone)("is refused on a %s table", (state, reason) => {
    const table = aTable({ state, drop: aDrop() });
    const refused = { ok: false, refusal: { reason } };
    expect(updateTable(table, { description: "x" }, NOW)).toMatchObject(refused);
    expect(updateTable(table, { name: "x" }, NOW)).toMatchObject(refused);
  });
});

describe("flipAsset", () => {
  test("T20 is a change and no activity, so that a due event issued before drops nothing", () => {
    const asset = flipAsset(aTable());
    expect(asset).toEqual(aTable({ projectAsset: true, changeVersion: 8n }));
    expect(flipAsset(asset)).toEqual(aTable({ changeVersion: 9n }));
  });
});
