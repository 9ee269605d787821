import { describe, expect, test } from "@jest/globals";
import { aDrop, aHold, aTable, DAY_MS, daysBefore, NOW } from "../../test/builders.ts";
import { type DropRequest, dropByRequest, dropExpired } from "./drop.ts";

const undo = { undoDays: 7, dayMs: DAY_MS };
const request = (patch: Partial<DropRequest> = {}): DropRequest => ({
  table: aTable(),
  holds: [],
  actor: "ana",
  now: NOW,
  undo,
  ...patch,
});

describe("dropExpired", () => {
  test("T27 changes state alone, is no activity, and has no person", () => {
    expect(dropExpired(aTable(), NOW, undo)).toEqual(
      aTable({
        state: "dropped",
        changeVersion: 8n,
        drop: { at: NOW, by: null, reason: "retention", undoUntil: daysBefore(-7) },
      }),
    );
  });

  test("T27 can be undone for a day even where the setting is 0", () => {
    const table = dropExpired(aTable(), NOW, { undoDays: 0, dayMs: DAY_MS });
    expect(table.drop?.undoUntil).toEqual(daysBefore(-1));
  });
});

describe("dropByRequest", () => {
  test("names the person and the reason", () => {
    expect(dropByRequest(request())).toMatchObject({
      ok: true,
      value: {
        state: "dropped",
        drop: { by: "ana", reason: "request", undoUntil: daysBefore(-7) },
      },
    });
  });

  test("T21 is refused while a write runs, naming the hold, and not after it", () => {
    expect(dropByRequest(request({ holds: [aHold()] }))).toMatchObject({
      ok: false,
      refusal: { reason: "TABLE_HELD", details: { hold_id: aHold().holdId } },
    });
    expect(dropByRequest(request({ holds: [aHold({ expiresAt: NOW })] }))).toMatchObject({
      ok: true,
    });
  });

  test("sends a staged table, which nobody can miss, straight to its purge", () => {
    const staged = aTable({ state: "staged" });
    expect(dropByRequest(request({ table: staged }))).toMatchObject({
      value: { state: "purging", drop: null },
    });
  });

  test.each([
    ["dropped", "TABLE_DROPPED"],
    ["purging", "TABLE_PURGING"],
    ["purged", "TABLE_NOT_FOUND"],
  ] as const)("is refused on a %s table", (state, reason) => {
    const table = aTable({ state, drop: aDrop() });
    expect(dropByRequest(request({ table }))).toMatchObject({ refusal: { reason } });
  });
});
