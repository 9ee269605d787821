import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { EnvironmentSnapshotSchema } from "@lapse/proto/events";
import { waitFor } from "@lapse/test-kit";
import { cleanIdempotency } from "../src/cleanup.ts";
import {
  type IdempotentCall,
  idempotentCallOf,
  once,
  type Pool,
  withTransaction,
} from "../src/index.ts";
import { kitDatabase } from "./support/setup.ts";

let database: Awaited<ReturnType<typeof kitDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await kitDatabase("idempotency");
  pool = database.pool;
});
afterAll(() => database.close());
beforeEach(() => pool.query("truncate lapse_kit.idempotency, effect"));

const call = (overrides: Partial<IdempotentCall> = {}): IdempotentCall => ({
  key: "k1",
  tenant: "local",
  method: "lapse.catalog.v1.CatalogService/CreateEnvironment",
  requestBytes: Buffer.from("request"),
  ...overrides,
});

let calls = 0;
/** Has an effect and answers with how often it was called. */
const run = (overrides?: Partial<IdempotentCall>, during: () => Promise<void> = async () => {}) =>
  withTransaction(pool, (tx) =>
    once(tx, call(overrides), EnvironmentSnapshotSchema, async () => {
      await tx.query("insert into effect (key) values ('e')");
      await during();
      return { name: `n${++calls}`, changeVersion: 7n };
    }),
  );

const effects = async () => (await pool.query("select from effect")).rowCount;

describe("once", () => {
  test("a repeated call gets the same answer and has no second effect", async () => {
    const first = await run();
    expect(await run()).toEqual(first);
    expect(first.changeVersion).toBe(7n);
    expect(await effects()).toBe(1);
  });

  test("without a key every call counts", async () => {
    await run({ key: undefined });
    await run({ key: undefined });
    expect(await effects()).toBe(2);
  });

  test("a key belongs to one tenant and one method", async () => {
    await run();
    await run({ tenant: "other" });
    await run({ method: "lapse.catalog.v1.CatalogService/DeleteEnvironment" });
    expect(await effects()).toBe(3);
  });

  test("a key that comes again with another request is refused", async () => {
    await run();
    await expect(run({ requestBytes: Buffer.from("another") })).rejects.toMatchObject({
      kind: "precondition",
      reason: "IDEMPOTENCY_KEY_REUSED",
    });
    expect(await effects()).toBe(1);
  });

  test("a call that failed may be repeated under its key", async () => {
    await expect(
      run({}, async () => {
        throw new Error("the effect failed");
      }),
    ).rejects.toThrow("the effect failed");
    await run();
    expect(await effects()).toBe(1);
  });

  test("two calls at once: the second waits and gets the answer of the first", async () => {
    const second = { started: undefined as Promise<unknown> | undefined };
    const first = await run({}, async () => {
      second.started = run();
      await waitFor(async () => {
        const { rowCount } = await pool.query(
          "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%idempotency%'",
        );
        return rowCount === 1;
      });
    });
    expect(await second.started).toEqual(first);
    expect(await effects()).toBe(1);
  });

  test("when the first of two fails, the second does the work", async () => {
    let second: Promise<unknown> | undefined;
    const first = run({}, async () => {
      second = run();
      await waitFor(async () => {
        const { rowCount } = await pool.query(
          "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%idempotency%'",
        );
        return rowCount === 1;
      });
      throw new Error("the first failed");
    });
    await expect(first).rejects.toThrow("the first failed");
    await second;
    expect(await effects()).toBe(1);
  });
});

describe("cleanIdempotency", () => {
  test("forgets answers after a day, and the call may be made anew", async () => {
    await run();
    await run({ key: "young" });
    await pool.query(
      "update lapse_kit.idempotency set created_at = now() - interval '25 hours' where key = 'k1'",
    );
    expect(await cleanIdempotency(pool)).toBe(1);
    await run();
    await run({ key: "young" });
    expect(await effects()).toBe(3);
  });
});

describe("idempotentCallOf", () => {
  const made = (subject: string, idempotencyKey?: string) =>
    idempotentCallOf({
      principal: { subject, tenant: "local", roles: [], kind: "person" },
      method: "lapse.catalog.v1.CatalogService/CreateEnvironment",
      requestBytes: Buffer.from("request"),
      idempotencyKey,
    });

  test("a key belongs to who made it: another's same key is another call", async () => {
    await run(made("ana", "k"));
    await run(made("ben", "k"));
    await run(made("ana", "k"));
    expect(await effects()).toBe(2);
  });

  test("a subject with a space in it is taken for nobody else", () => {
    expect(made("ana b", "k").key).not.toBe(made("ana", "b-k").key);
  });

  test("without a key there is nothing to remember", () => {
    expect(made("ana").key).toBeUndefined();
  });
});
