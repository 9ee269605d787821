import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { giveUpRange, noteHead } from "../src/inbox.ts";
import {
  missingRanges,
  type Pool,
  trackSequence,
  trackSequences,
  withTransaction,
} from "../src/index.ts";
import { upTo } from "./support/outbox.ts";
import { kitDatabase } from "./support/setup.ts";

const source = "lapse.catalog";
const stream = "CATALOG";

let database: Awaited<ReturnType<typeof kitDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await kitDatabase("inbox");
  pool = database.pool;
});
afterAll(() => database.close());
beforeEach(() => pool.query("truncate lapse_kit.inbox, effect"));

const track = (...sequences: number[]) =>
  withTransaction(pool, (tx) =>
    trackSequences(
      tx,
      sequences.map((sequence) => ({ source, stream, sequence: BigInt(sequence) })),
    ),
  );
const holes = async () =>
  (await missingRanges(pool)).map(({ from, to }) => [Number(from), Number(to)]);

describe("trackSequence", () => {
  test("an event is new once, whatever the order they come in", async () => {
    const one = (sequence: bigint) =>
      withTransaction(pool, (tx) => trackSequence(tx, source, stream, sequence));
    expect(await one(1n)).toBe("new");
    expect(await one(3n)).toBe("new");
    expect(await one(1n)).toBe("seen");
    expect(await one(2n)).toBe("new");
    expect(await one(3n)).toBe("seen");
  });

  test("each publisher and stream has numbers of its own", async () => {
    const events = [
      { source, stream, sequence: 1n },
      { source: "lapse.policy", stream, sequence: 1n },
      { source, stream: "DECISION", sequence: 1n },
    ];
    expect(await withTransaction(pool, (tx) => trackSequences(tx, events))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test("of an event that is in a batch twice the first is new", async () => {
    expect(await track(1, 2, 1)).toEqual([true, true, false]);
  });

  test("what a transaction noted that failed is not noted", async () => {
    const failing = withTransaction(pool, async (tx) => {
      await trackSequence(tx, source, stream, 1n);
      throw new Error("the effect failed");
    });
    await expect(failing).rejects.toThrow("the effect failed");
    expect(await track(1)).toEqual([true]);
  });

  test("of several transactions at once exactly one finds an event new", async () => {
    await track(1);
    for (const round of upTo(10)) {
      const events = range(round * 10, round * 10 + 9);
      const results = await Promise.all(upTo(6).map(() => track(...events)));
      for (const nth of events.keys()) {
        expect(results.filter((result) => result[nth]).length).toBe(1);
      }
    }
  });

  test("transactions over several publishers in opposite orders do not lock each other out", async () => {
    const pair = (a: string, b: string) =>
      withTransaction(
        pool,
        (tx) =>
          trackSequences(tx, [
            { source: a, stream, sequence: 1n },
            { source: b, stream, sequence: 1n },
          ]),
        { attempts: 1 },
      );
    await Promise.all(upTo(20).map((nth) => (nth % 2 ? pair("a", "b") : pair("b", "a"))));
  });

  test("agrees with a set over any history of batches", async () => {
    const batches = fc.array(fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 8 }), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(batches, async (history) => {
        await pool.query("truncate lapse_kit.inbox");
        const seen = new Set<number>();
        for (const batch of history) {
          const expected = batch.map((sequence) => {
            const isNew = !seen.has(sequence);
            seen.add(sequence);
            return isNew;
          });
          expect(await track(...batch)).toEqual(expected);
        }
        const most = Math.max(0, ...seen);
        const missing = upTo(most).filter((sequence) => !seen.has(sequence));
        expect((await holes()).flatMap(([from = 0, to = 0]) => range(from, to))).toEqual(missing);
      }),
      { numRuns: 40 },
    );
  });
});

const range = (from: number, to: number) => upTo(to - from + 1).map((nth) => from + nth - 1);

describe("missingRanges", () => {
  test("names what is between, and at the end by the last number known to be given out", async () => {
    await track(1, 2, 5, 6, 9);
    expect(await holes()).toEqual([
      [3, 4],
      [7, 8],
    ]);
    await noteHead(pool, { source, stream, sequence: 12n });
    expect(await holes()).toEqual([
      [3, 4],
      [7, 8],
      [10, 12],
    ]);
  });

  test("before anything came, all that was given out is missing", async () => {
    await noteHead(pool, { source, stream, sequence: 3n });
    expect(await holes()).toEqual([[1, 3]]);
  });

  test("a last number reported late does not take back a later one", async () => {
    await noteHead(pool, { source, stream, sequence: 3n });
    await noteHead(pool, { source, stream, sequence: 2n });
    expect(await holes()).toEqual([[1, 3]]);
  });

  test("what was given up is missing no more and stays on record", async () => {
    await track(1, 3, 6);
    await withTransaction(pool, (tx) => giveUpRange(tx, { source, stream, from: 2n, to: 4n }));
    expect(await holes()).toEqual([[5, 5]]);
    const { rows } = await pool.query("select lost::text from lapse_kit.inbox");
    expect(rows).toEqual([{ lost: "{[2,3),[4,5)}" }]);
  });
});
