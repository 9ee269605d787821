import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";
import type { Decision, DecisionRecord } from "./decision.ts";

/** The last record of a chain; `seq` 0 and {@link NO_HASH} where nothing has been appended yet. */
export interface ChainHead {
  readonly seq: bigint;
  readonly hash: Uint8Array;
}

/** What the first record of a chain links to. */
export const NO_HASH: Uint8Array = new Uint8Array(32);

export const EMPTY_CHAIN: ChainHead = { seq: 0n, hash: NO_HASH };

/** The records that append `decisions`, in this order, to the chain that ends in `head`. */
export function extendChain(
  head: ChainHead,
  decisions: readonly Decision[],
  recordedAt: Date,
): DecisionRecord[] {
  let { seq, hash } = head;
  return decisions.map((decision) => {
    const linked = { ...decision, seq: seq + 1n, recordedAt, prevHash: hash };
    const record = { ...linked, hash: hashOf(linked) };
    seq = record.seq;
    hash = record.hash;
    return record;
  });
}

/** SHA-256 over the previous record's hash and the canonical form of this one: every column but its own hash counts. */
export function hashOf(record: Omit<DecisionRecord, "hash">): Uint8Array {
  return createHash("sha256").update(record.prevHash).update(canonicalForm(record)).digest();
}

function canonicalForm(record: Omit<DecisionRecord, "hash">): string {
  return canonicalJson({
    tenant: record.tenant,
    seq: String(record.seq),
    id: record.id,
    at: record.at.toJSON(),
    type: record.type,
    service: record.service,
    actor: record.actor,
    resource: { ...record.resource },
    outcome: record.outcome,
    reason: record.reason,
    details: record.details,
    run_id: record.runId,
    trace_id: record.traceId,
    source: record.source,
    source_sequence: record.sourceSequence === null ? null : String(record.sourceSequence),
    recorded_at: record.recordedAt.toJSON(),
  });
}

/** A hash as the API writes it: lower-case hex. */
export function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}
