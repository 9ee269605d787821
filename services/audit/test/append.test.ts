import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createPool, type Pool } from "@lapse/kit";
import { appendDecisions } from "../src/app/append-decisions.ts";
import { verifyChain } from "../src/app/verify-chain.ts";
import { readChain } from "../src/store/decision-record.ts";
import { aDecision } from "./lab/a-decision.ts";
import { type AuditDatabase, auditDatabase, behindTheBack, SILENT } from "./lab/database.ts";

const NOTHING_ELSE = async () => {};
const NEVER = new AbortController().signal;

let database: AuditDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await auditDatabase("audit-append");
  pool = database.pool;
});
afterAll(() => database.drop());
beforeEach(() => behindTheBack(pool, "truncate decision_record, chain_head"));

const verify = (tenant = "local") => verifyChain(pool, tenant, NEVER);

describe("appending decisions", () => {
  test("reads back exactly as it was hashed, whatever the details hold", async () => {
    const details = {
      small: 5e-324,
      large: 1.7976931348623157e308,
      whole: 1e21,
      minus: -0,
      sum: 0.1 + 0.2,
      text: 'quotes " and \\ and \u2028 and 😀',
      nested: [{ b: 1, a: [null, true, {}] }, []],
      "": "empty key",
      constructor: "own",
    };
    const decision = aDecision({ details, actor: "o'hara", sourceSequence: 2n ** 63n - 1n });
    await appendDecisions(pool, [decision], NOTHING_ELSE);
    const [record] = await readChain(pool, "local", 0n, 10);
    expect(record).toMatchObject({ ...decision, details: { ...details, minus: 0 }, seq: 1n });
    expect(await verify()).toMatchObject({ fault: null, records: 1n });
  });

  test("numbers each tenant's decisions by themselves", async () => {
    await appendDecisions(
      pool,
      ["b", "a", "b", "*"].map((tenant, n) => aDecision({ tenant, sourceSequence: BigInt(n) })),
      NOTHING_ELSE,
    );
    const seqs = async (tenant: string) =>
      (await readChain(pool, tenant, 0n, 10)).map(({ seq }) => seq);
    expect(await seqs("a")).toEqual([1n]);
    expect(await seqs("b")).toEqual([1n, 2n]);
    expect(await seqs("*")).toEqual([1n]);
  });

  test("the same decisions twice, in one batch or in two, are appended once", async () => {
    const decisions = [1n, 2n].map((sourceSequence) => aDecision({ sourceSequence }));
    await appendDecisions(pool, [...decisions, ...decisions], NOTHING_ELSE);
    const again = await appendDecisions(pool, decisions, NOTHING_ELSE);
    expect(again.records).toEqual([]);
    expect(await verify()).toMatchObject({ fault: null, records: 2n });
  });

  test("a batch in which one decision repeats appends the others", async () => {
    const [known, fresh] = [aDecision({ sourceSequence: 1n }), aDecision({ sourceSequence: 2n })];
    await appendDecisions(pool, [known], NOTHING_ELSE);
    const { records } = await appendDecisions(pool, [fresh, known], NOTHING_ELSE);
    expect(records.map(({ id }) => id)).toEqual([fresh.id]);
  });

  test("what runs alongside is undone with it", async () => {
    const fail = async () => {
      throw new Error("no");
    };
    await expect(appendDecisions(pool, [aDecision()], fail)).rejects.toThrow("no");
    expect(await verify()).toMatchObject({ fault: null, records: 0n });
  });

  test("two replicas that append to the same tenants at once never fork a chain", async () => {
    const replicas = [pool, createPool({ url: database.url, applicationName: "b", log: SILENT })];
    const tenants = ["t1", "t2", "t3", "t4"];
    const batches = Array.from({ length: 24 }, (_, batch) =>
      [...tenants.slice(batch % 4), ...tenants.slice(0, batch % 4)].map((tenant, n) =>
        aDecision({ tenant, sourceSequence: BigInt(batch * 4 + n) }),
      ),
    );
    // Every batch goes to both, as after a lost acknowledgement.
    await Promise.all(
      batches.flatMap((batch) =>
        replicas.map((replica) => appendDecisions(replica, batch, NOTHING_ELSE)),
      ),
    );
    for (const tenant of tenants) {
      expect(await verify(tenant)).toMatchObject({ fault: null, records: 24n });
    }
    await replicas[1]?.end();
  });

  test("without the lock on the head, two that append at once collide on a number", async () => {
    const [one, other] = [aDecision({ sourceSequence: 1n }), aDecision({ sourceSequence: 2n })];
    await appendDecisions(pool, [one], NOTHING_ELSE);
    const insertAt = (seq: bigint) =>
      pool.query(
        `insert into decision_record select tenant, $1, gen_random_uuid(), at, type, service, actor,
           resource_kind, resource_id, resource_name, resource_environment, outcome, reason, details,
           run_id, trace_id, source, $2, recorded_at, prev_hash, hash from decision_record where seq = 1`,
        [seq, other.sourceSequence],
      );
    await expect(insertAt(1n)).rejects.toThrow(/decision_record_pkey/);
  });
});

describe("the log", () => {
  test.each([
    "update decision_record set reason = 'other'",
    "update decision_record set reason = 'other' where false",
    "delete from decision_record",
    "truncate decision_record",
    "delete from chain_head",
    "truncate chain_head",
    "update chain_head set seq = 0",
    "update chain_head set tenant = 'other', seq = 9",
  ])("refuses: %s", async (sql) => {
    await appendDecisions(pool, [aDecision()], NOTHING_ELSE);
    await expect(pool.query(sql)).rejects.toThrow(/append-only|only moves forward/);
    expect(await verify()).toMatchObject({ fault: null, records: 1n });
  });

  test("with the triggers off the same statements go through, so it is they that refuse", async () => {
    await appendDecisions(pool, [aDecision()], NOTHING_ELSE);
    await behindTheBack(pool, "update decision_record set reason = 'other'");
    expect((await readChain(pool, "local", 0n, 1))[0]?.reason).toBe("other");
  });
});
