import { describe, expect, test } from "@jest/globals";
import { aDecision } from "../../test/lab/a-decision.ts";
import { EMPTY_CHAIN, extendChain, hashOf, hexOf, NO_HASH } from "./chain.ts";
import type { Decision } from "./decision.ts";

const RECORDED_AT = new Date("2026-03-01T00:00:01.000Z");
const decisions: readonly Decision[] = [1, 2, 3].map((n) =>
  aDecision({ sourceSequence: BigInt(n) }),
);

describe("extendChain", () => {
  test("numbers from the head on and links every record to the one before it", () => {
    const [first, second, third] = extendChain(EMPTY_CHAIN, decisions, RECORDED_AT);
    expect([first?.seq, second?.seq, third?.seq]).toEqual([1n, 2n, 3n]);
    expect(first?.prevHash).toEqual(NO_HASH);
    expect(second?.prevHash).toEqual(first?.hash);
    expect(third?.prevHash).toEqual(second?.hash);
  });

  test("one batch and many make the same chain", () => {
    const atOnce = extendChain(EMPTY_CHAIN, decisions, RECORDED_AT);
    const [first] = extendChain(EMPTY_CHAIN, decisions.slice(0, 1), RECORDED_AT);
    if (first === undefined) throw new Error("nothing was appended");
    const rest = extendChain(first, decisions.slice(1), RECORDED_AT);
    expect([first, ...rest]).toEqual(atOnce);
  });

  test("hashes SHA-256 over the hash before and the canonical form, so that anyone can recompute it", () => {
    const [record] = extendChain(
      EMPTY_CHAIN,
      [
        aDecision({
          id: "0197f3a0-0000-7000-8000-000000000001",
          details: { days: 30, on: null },
          sourceSequence: 7n,
        }),
      ],
      RECORDED_AT,
    );
    if (record === undefined) throw new Error("nothing was appended");
    // printf of 32 zero bytes and of the canonical form below, through sha256sum
    expect(hexOf(record.hash)).toBe(hexOf(hashOf(record)));
    expect(hexOf(record.hash)).toBe(
      "d4127641a48d1301a99395375677974fb9e92e7f9d349756cdc6d0eacbe6ae4e",
    );
  });
});
