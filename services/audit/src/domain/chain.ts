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
  let last = head;
  return decisions.map((decision) => {
    const linked = { ...decision, seq: last.seq + 1n, recordedAt, prevHash: last.hash };
    const record = Object.assign(linked, { hash: hashOf(linked) });
    last = record;
    return record;
  });
}

/** SHA-256 over the previous record's hash and the canonical form of this one: every column but its own hash counts. */
export function hashOf(record: Omit<DecisionRecord, "hash">): Uint8Array {
  return createHash("sha256").update(record.prevHash).update(canonicalForm(record)).digest();
}

/**
 * The record as {@link canonicalJson} writes an object of these members, which are given in that order already:
 * this is where appending and verifying spend their time.
 */
function canonicalForm(record: Omit<DecisionRecord, "hash">): string {
  const { resource, sourceSequence } = record;
  const sequence = sourceSequence === null ? null : String(sourceSequence);
  return (
    `{"actor":${JSON.stringify(record.actor)}` +
    `,"at":"${record.at.toJSON()}"` +
    `,"details":${canonicalJson(record.details)}` +
    `,"id":${JSON.stringify(record.id)}` +
    `,"outcome":${JSON.stringify(record.outcome)}` +
    `,"reason":${JSON.stringify(record.reason)}` +
    `,"recorded_at":"${record.recordedAt.toJSON()}"` +
    `,"resource":{"environment":${JSON.stringify(resource.environment)}` +
    `,"id":${JSON.stringify(resource.id)}` +
    `,"kind":${JSON.stringify(resource.kind)}` +
    `,"name":${JSON.stringify(resource.name)}}` +
    `,"run_id":${JSON.stringify(record.runId)}` +
    `,"seq":"${record.seq}"` +
    `,"service":${JSON.stringify(record.service)}` +
    `,"source":${JSON.stringify(record.source)}` +
    `,"source_sequence":${JSON.stringify(sequence)}` +
    `,"tenant":${JSON.stringify(record.tenant)}` +
    `,"trace_id":${JSON.stringify(record.traceId)}` +
    `,"type":${JSON.stringify(record.type)}}`
  );
}

/** A hash as the API writes it: lower-case hex. */
export function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}
