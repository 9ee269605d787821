import { describe, expect, test } from "@jest/globals";
import { aDecision } from "../../test/lab/a-decision.ts";
import { type ChainHead, EMPTY_CHAIN, extendChain } from "./chain.ts";
import type { DecisionRecord } from "./decision.ts";
import { type ChainFault, faultAfter, faultAtEnd } from "./verify.ts";

const CHAIN = extendChain(
  EMPTY_CHAIN,
  [1, 2, 3, 4].map((n) => aDecision({ sourceSequence: BigInt(n) })),
  new Date("2026-03-01T00:00:01.000Z"),
);
const HEAD = CHAIN.at(-1) as DecisionRecord;

function verify(records: readonly DecisionRecord[], head: ChainHead = HEAD): ChainFault | null {
  let before: ChainHead = EMPTY_CHAIN;
  for (const record of records) {
    const fault = faultAfter(before, record);
    if (fault !== null) return fault;
    before = record;
  }
  return faultAtEnd(before, head);
}

/** The chain with its third record changed. */
const changed = (change: Partial<DecisionRecord>) =>
  CHAIN.map((record, index) => (index === 2 ? { ...record, ...change } : record));

describe("verifying a chain", () => {
  test("finds nothing in an untouched chain, nor in an empty one", () => {
    expect(verify(CHAIN)).toBeNull();
    expect(verify([], EMPTY_CHAIN)).toBeNull();
  });

  const elsewhere = { kind: "table", id: "x", name: "y", environment: "z" };
  test.each<Partial<DecisionRecord>>([
    { id: "0197f3a0-0000-7000-8000-00000000ffff" },
    { at: new Date(0) },
    { type: "TABLE_PURGED" },
    { service: "other" },
    { tenant: "other" },
    { actor: "mallory" },
    { resource: elsewhere },
    { outcome: "kept" },
    { reason: "other" },
    { details: {} },
    { runId: "other" },
    { traceId: "other" },
    { source: "other" },
    { sourceSequence: 99n },
    { sourceSequence: null },
    { recordedAt: new Date(0) },
    { prevHash: new Uint8Array(32) },
    { hash: new Uint8Array(32) },
  ])("finds the record that was changed: %o", (change) => {
    expect(verify(changed(change))?.seq).toBe(3n);
  });

  test("finds a record that was removed, moved or put in between", () => {
    const [first, second, third, fourth] = CHAIN as [
      DecisionRecord,
      DecisionRecord,
      DecisionRecord,
      DecisionRecord,
    ];
    expect(verify([first, third, fourth])).toEqual({ seq: 2n, fault: "record 2 is missing" });
    expect(verify([second, third, fourth])?.seq).toBe(1n);
    expect(verify([first, { ...third, seq: 2n }, { ...second, seq: 3n }, fourth])?.seq).toBe(2n);
    expect(verify([first, { ...second, seq: 2n }, second, third])?.seq).toBe(3n);
  });

  test("finds a chain rewritten from one record on by the head", () => {
    const [first, ...rest] = CHAIN as [DecisionRecord, ...DecisionRecord[]];
    const forged = extendChain(
      first,
      rest.map((record) => ({ ...record, actor: "mallory" })),
      first.recordedAt,
    );
    expect(verify([first, ...forged])?.seq).toBe(4n);
  });

  test("finds a removed tail, and a record past the head", () => {
    expect(verify(CHAIN.slice(0, 2))).toEqual({
      seq: 3n,
      fault: "the chain should end in record 4; record 3 is missing",
    });
    expect(verify([])?.seq).toBe(1n);
    expect(verify(CHAIN, CHAIN[1])?.seq).toBe(3n);
  });
});
