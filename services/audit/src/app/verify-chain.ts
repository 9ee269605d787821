import { type Pool, withTransaction } from "@lapse/kit";
import { type ChainHead, EMPTY_CHAIN } from "../domain/chain.ts";
import { type ChainFault, faultAfter, faultAtEnd } from "../domain/verify.ts";
import { readChainHead } from "../store/chain-head.ts";
import { readChain } from "../store/decision-record.ts";

/** What a walk along a chain found. */
export interface Verification {
  /** Records that fit, from the first on. */
  readonly records: bigint;
  readonly head: ChainHead;
  /** Null: the chain is whole. */
  readonly fault: ChainFault | null;
}

const PAGE = 1_000;

/**
 * Walks a chain from its first record to its head, a page at a time, and recomputes every hash. It finds any
 * change made behind the service's back up to one that rewrites all records from one on *and* the head: that
 * takes a hash noted elsewhere to find, such as the `head` of an earlier answer.
 *
 * Appending goes on meanwhile: the walk sees the chain as it was when it began.
 */
export async function verifyChain(
  pool: Pool,
  tenant: string,
  until: AbortSignal,
): Promise<Verification> {
  return withTransaction(
    pool,
    async (tx) => {
      const head = await readChainHead(tx, tenant);
      let last: ChainHead = EMPTY_CHAIN;
      for (;;) {
        until.throwIfAborted();
        const page = await readChain(tx, tenant, last.seq, PAGE);
        for (const record of page) {
          const fault = faultAfter(last, record);
          if (fault !== null) {
            return { records: last.seq, head, fault };
          }
          last = record;
        }
        if (page.length < PAGE) {
          return { records: last.seq, head, fault: faultAtEnd(last, head) };
        }
      }
    },
    { isolation: "repeatable read" },
  );
}
