import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { idText, idWords } from "./packed-activities.ts";
import { ReadTally } from "./read-tally.ts";

const A = "01890a5d-ac96-774b-bcce-b302099a8057";
const NOON = Date.parse("2026-05-01T12:00:00Z");
const DAY = 86_400_000;

function rows(tally: ReadTally) {
  const { length, ids, days, source, sources, reads, lastAt } = tally.columns(0, tally.size);
  return Array.from({ length }, (_, nth) => ({
    tableId: idText(ids.subarray(4 * nth, 4 * nth + 4)),
    day: new Date((days[nth] ?? 0) * DAY).toISOString().slice(0, 10),
    source: sources[source[nth] ?? 0],
    reads: reads[nth],
    lastAt: lastAt[nth],
  }));
}

describe("ReadTally", () => {
  test("T17 counts reads per day and source, and keeps the time of the last", () => {
    const tally = new ReadTally();
    tally.add(A, NOON, "trino");
    tally.add(A, NOON + DAY, "trino");
    tally.add(A, NOON - 1, "trino");
    tally.add(A, NOON, "spark");
    expect(rows(tally)).toEqual([
      { tableId: A, day: "2026-05-01", source: "trino", reads: 2, lastAt: NOON },
      { tableId: A, day: "2026-05-02", source: "trino", reads: 1, lastAt: NOON + DAY },
      { tableId: A, day: "2026-05-01", source: "spark", reads: 1, lastAt: NOON },
    ]);
  });

  test("a day begins at midnight UTC, also before 1970", () => {
    const tally = new ReadTally();
    for (const at of [
      "2026-05-01T23:59:59.999Z",
      "2026-05-02T00:00:00.000Z",
      "1969-12-31T23:00:00Z",
    ]) {
      tally.add(A, Date.parse(at), "");
    }
    expect(rows(tally).map(({ day }) => day)).toEqual(["2026-05-01", "2026-05-02", "1969-12-31"]);
  });

  test("keeps apart what differs in anything, and loses nothing as it grows", () => {
    const tally = new ReadTally();
    const expected = new Map<string, number>();
    for (let nth = 0; nth < 40_000; nth += 1) {
      const table = (nth * 7_919) % 3_001;
      // Ids that differ in one word only, each in another.
      const words = [0x01890a5d, 0x1c96774b, 0x3cceb302, 0x099a8057];
      words[table % 4] = (words[table % 4] ?? 0) ^ table;
      const id = idText(Int32Array.from(words));
      const source = `s${nth % 2}`;
      tally.add(id, NOON, source);
      expected.set(`${id} ${source}`, (expected.get(`${id} ${source}`) ?? 0) + 1);
    }
    const counted = rows(tally).map(({ tableId, source, reads }) => [
      `${tableId} ${source}`,
      reads,
    ]);
    expect(counted.length).toBe(expected.size);
    expect(new Map(counted as [string, number][])).toEqual(expected);
  });

  test("an id is the same as words and as text", () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const words = new Int32Array(4);
        idWords(id.toUpperCase(), words);
        expect(idText(words)).toBe(id);
      }),
    );
  });
});
