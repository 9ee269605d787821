import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { type Delivery, newId, type Queryable, unavailable } from "@lapse/kit";
import { applyBatch } from "../src/events/apply-batch.ts";
import type { StreamFold } from "../src/events/stream-fold.ts";
import { loadPosition } from "../src/store/fold-positions.ts";
import { type LabDatabase, labDatabase } from "./lab/database.ts";

let db: LabDatabase;
jest.setTimeout(60_000);
beforeAll(async () => {
  db = await labDatabase("apply batch");
  await db.pool.query(
    `insert into lapse_kit.lease (name, holder, token, expires_at) values ('fold', 'test', 1, now() + interval '1 hour')`,
  );
});
afterAll(() => db.close());
beforeEach(() => db.clear());

/** Messages are numbers here; what is done with one is up to the test. */
function fold(apply: (tx: Queryable, value: number) => Promise<void>): {
  readonly fold: StreamFold<number>;
  readonly counted: () => number;
} {
  let counted = 0;
  return {
    counted: () => counted,
    fold: {
      stream: "ACTIVITY",
      source: null,
      read: ({ body }) => body[0] ?? null,
      async apply(tx, messages) {
        for (const { message } of messages) await apply(tx, message);
        return {
          refused: [],
          count: () => {
            counted += messages.length;
          },
        };
      },
    },
  };
}

const delivery = (value: number): Delivery => ({
  stream: "ACTIVITY",
  subject: "activity.table.read",
  streamSequence: BigInt(value),
  deliveryCount: 1,
  storedAt: new Date(),
  headers: {},
  event: { id: newId(), type: "", source: "", time: new Date(), contentType: "" },
  body: Uint8Array.of(value),
  decode: () => {
    throw new Error("not decoded here");
  },
});

const run = async (folding: StreamFold<number>, values: readonly number[]) => {
  const parked: { value: number | undefined; reason: string }[] = [];
  await applyBatch({ pool: db.pool, token: 1n }, folding, values.map(delivery), {
    stream: "ACTIVITY",
    firstSequence: 1n,
    lastSequence: BigInt(values.length),
    streamCreatedAt: new Date("2026-01-01T00:00:00Z"),
    async park({ body }, reason) {
      parked.push({ value: body[0], reason });
    },
  });
  return parked;
};
const insert = (tx: Queryable, value: number) =>
  tx.query(
    `insert into table_read_day (table_id, day, source, reads, last_read_at, merged_at)
     values (gen_random_uuid(), '2026-01-01', $1, $2, now(), now())`,
    [`s${value}`, value],
  );
const stored = async () => {
  const { rows } = await db.pool.query<{ source: string }>(
    `select source from table_read_day order by source`,
  );
  return rows.map(({ source }) => source);
};

describe("applyBatch", () => {
  test("parks the message that the database refuses and counts its neighbours", async () => {
    const { fold: folding, counted } = fold(async (tx, value) => {
      // reads must be more than 0.
      await insert(tx, value === 2 ? -1 : value);
    });
    const parked = await run(folding, [1, 2, 3]);
    expect(parked).toMatchObject([{ value: 2, reason: expect.stringContaining("EVENT_REFUSED") }]);
    expect(await stored()).toEqual(["s1", "s3"]);
    expect(counted()).toBe(2);
    expect((await loadPosition(db.pool, "ACTIVITY")).sequence).toBe(3n);
  });

  test.each([
    ["something is away", () => unavailable("DATABASE_UNAVAILABLE", "later")],
    ["the fault is ours", () => new TypeError("undefined is not a function")],
  ])(
    "parks nothing and stays where it is when %s: nothing expires meanwhile",
    async (_why, error) => {
      const { fold: folding, counted } = fold(async (tx, value) => {
        await insert(tx, value);
        if (value === 2) throw error();
      });
      await expect(run(folding, [1, 2, 3])).rejects.toThrow();
      expect(await stored()).toEqual([]);
      expect(counted()).toBe(0);
      expect((await loadPosition(db.pool, "ACTIVITY")).sequence).toBe(0n);
    },
  );

  test("parks nothing when the schema is not the one it was written for", async () => {
    const { fold: folding } = fold(async (tx) => {
      await tx.query(`select no_such_column from table_state`);
    });
    await expect(run(folding, [1])).rejects.toMatchObject({ code: "42703" });
  });
});
