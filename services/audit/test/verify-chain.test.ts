import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Pool } from "@lapse/kit";
import { appendDecisions } from "../src/app/append-decisions.ts";
import { verifyChain } from "../src/app/verify-chain.ts";
import { EMPTY_CHAIN, extendChain } from "../src/domain/chain.ts";
import { readChain } from "../src/store/decision-record.ts";
import { aDecision } from "./lab/a-decision.ts";
import { type AuditDatabase, auditDatabase, behindTheBack } from "./lab/database.ts";

const NOTHING_ELSE = async () => {};
const NEVER = new AbortController().signal;

let database: AuditDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await auditDatabase("audit-verify");
  pool = database.pool;
});
afterAll(() => database.drop());
beforeEach(async () => {
  await behindTheBack(pool, "truncate decision_record, chain_head");
  const decisions = [1n, 2n, 3n, 4n, 5n].map((sourceSequence) => aDecision({ sourceSequence }));
  await appendDecisions(pool, decisions, NOTHING_ELSE);
});

const verify = (tenant = "local") => verifyChain(pool, tenant, NEVER);

/** Every column of decision_record, with something else to put into it. */
const CHANGES: Readonly<Record<string, string>> = {
  tenant: "'other'",
  seq: "99",
  id: "gen_random_uuid()",
  at: "at + interval '1 ms'",
  type: "'TABLE_KEPT'",
  service: "'other'",
  actor: "'mallory'",
  resource_kind: "'environment'",
  resource_id: "'other'",
  resource_name: "'other'",
  resource_environment: "'prod'",
  outcome: "'kept'",
  reason: "'request'",
  details: `jsonb_set(details, '{retention,days}', '31')`,
  run_id: "''",
  trace_id: "'other'",
  source: "'lapse.other'",
  source_sequence: "null",
  recorded_at: "'infinity'",
  prev_hash: "sha256('')",
  hash: "sha256('')",
};

describe("VerifyChain", () => {
  test("knows of every column there is", async () => {
    const { rows } = await pool.query<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_name = 'decision_record' order by ordinal_position`,
    );
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(CHANGES));
  });

  test.each(Object.keys(CHANGES))(
    "finds a change of %s behind the service's back",
    async (column) => {
      expect((await verify()).fault).toBeNull();
      await behindTheBack(
        pool,
        `update decision_record set ${column} = ${CHANGES[column]} where seq = 3`,
      );
      expect(await verify()).toMatchObject({ records: 2n, fault: { seq: 3n } });
    },
  );

  test("finds a record that was removed from the middle", async () => {
    await behindTheBack(pool, "delete from decision_record where seq = 2");
    expect((await verify()).fault).toEqual({ seq: 2n, fault: "record 2 is missing" });
  });

  test("finds a removed tail by the head, down to the whole chain", async () => {
    await behindTheBack(pool, "delete from decision_record where seq > 3");
    expect((await verify()).fault?.seq).toBe(4n);
    await behindTheBack(pool, "delete from decision_record");
    expect((await verify()).fault?.seq).toBe(1n);
  });

  test("finds two records that were swapped", async () => {
    await behindTheBack(
      pool,
      `update decision_record set seq = 99 where seq = 2;
       update decision_record set seq = 2 where seq = 3;
       update decision_record set seq = 3 where seq = 99`,
    );
    expect((await verify()).fault?.seq).toBe(2n);
  });

  test("finds a record moved over from another tenant's chain, in both", async () => {
    await appendDecisions(pool, [aDecision({ tenant: "other" })], NOTHING_ELSE);
    await behindTheBack(
      pool,
      "update decision_record set tenant = 'other', seq = 2 where tenant = 'local' and seq = 5",
    );
    expect((await verify("local")).fault?.seq).toBe(5n);
    expect((await verify("other")).fault?.seq).toBe(2n);
  });

  test("finds a record appended without moving the head, and a head of another hash", async () => {
    await behindTheBack(pool, "update chain_head set seq = 4");
    expect((await verify()).fault?.seq).toBe(5n);
    await behindTheBack(pool, "update chain_head set seq = 5, hash = sha256('')");
    expect((await verify()).fault?.seq).toBe(5n);
  });

  test("finds a head that was removed", async () => {
    await behindTheBack(pool, "delete from chain_head");
    expect((await verify()).fault?.seq).toBe(1n);
  });

  test("a chain rewritten together with its head shows only against a hash noted before", async () => {
    const { head: noted } = await verify();
    const records = await readChain(pool, "local", 0n, 10);
    const forged = extendChain(
      EMPTY_CHAIN,
      records.map((record) => ({ ...record, actor: "mallory" })),
      new Date(),
    );
    await behindTheBack(pool, "truncate decision_record, chain_head");
    await appendDecisions(pool, forged, NOTHING_ELSE);
    const { fault, head } = await verify();
    expect(fault).toBeNull();
    expect(head.hash).not.toEqual(noted.hash);
  });

  test("walks more records than it reads at once, while more are appended", async () => {
    const many = Array.from({ length: 2_500 }, (_, n) =>
      aDecision({ sourceSequence: BigInt(n + 9) }),
    );
    const appending = appendDecisions(pool, many, NOTHING_ELSE);
    expect((await verify()).fault).toBeNull();
    await appending;
    expect(await verify()).toMatchObject({ records: 2_505n, fault: null });
    await behindTheBack(pool, "update decision_record set actor = 'mallory' where seq = 2001");
    expect((await verify()).fault?.seq).toBe(2_001n);
  });

  test("stops when nobody waits for the answer any more", async () => {
    await expect(verifyChain(pool, "local", AbortSignal.abort())).rejects.toThrow(/abort/);
  });
});
