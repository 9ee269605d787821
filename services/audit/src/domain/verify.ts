import { type ChainHead, EMPTY_CHAIN, hashOf } from "./chain.ts";
import type { DecisionRecord } from "./decision.ts";

/** The first place where a chain does not fit, and why, in a sentence. */
export interface ChainFault {
  readonly seq: bigint;
  readonly fault: string;
}

/**
 * What is wrong with `record` as the one after `before`, or null. It finds a record that was changed in any
 * column, removed, moved or put in between.
 */
export function faultAfter(before: ChainHead, record: DecisionRecord): ChainFault | null {
  const expected = before.seq + 1n;
  if (record.seq !== expected) {
    return { seq: expected, fault: `record ${expected} is missing` };
  }
  if (!sameHash(record.prevHash, before.hash)) {
    const fault =
      before.seq === EMPTY_CHAIN.seq
        ? "the first record links to something before it"
        : `record ${record.seq} does not link to record ${before.seq}`;
    return { seq: record.seq, fault };
  }
  if (!sameHash(record.hash, hashOf(record))) {
    return { seq: record.seq, fault: `record ${record.seq} does not match its hash` };
  }
  return null;
}

/**
 * What is wrong with the end of a chain whose last record is `last`, or null: the head, kept apart from the
 * records, must name it. A tail that was removed is found by this, unless the head was set back with it.
 */
export function faultAtEnd(last: ChainHead, head: ChainHead): ChainFault | null {
  if (head.seq > last.seq) {
    const seq = last.seq + 1n;
    return { seq, fault: `the chain should end in record ${head.seq}; record ${seq} is missing` };
  }
  if (head.seq < last.seq) {
    const seq = head.seq + 1n;
    return { seq, fault: `record ${seq} is past the head of the chain` };
  }
  return sameHash(head.hash, last.hash)
    ? null
    : { seq: last.seq, fault: "the head of the chain has another hash than its last record" };
}

function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
