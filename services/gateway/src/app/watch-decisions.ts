import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DecisionFilterSchema, DecisionRecord } from "@lapse/proto/audit";
import type { Peers } from "../peers.ts";
import { type Call, reading } from "./call.ts";

/** Decisions from a certain seq on. */
export interface Watch {
  /** The seq that the stream starts after. */
  readonly after: bigint;
  readonly records: AsyncIterable<DecisionRecord>;
}

/**
 * What is decided after the seq `after`, or from now on, oldest first, until the call's signal is aborted.
 * Audit is asked for the newest decision first: so a refusal or an outage is told before any stream
 * begins, and "now" is a seq that a reader can come back to.
 *
 * @throws denied, unavailable as audit says.
 */
export async function watchDecisions(
  { audit }: Pick<Peers, "audit">,
  call: Call,
  filter: MessageInitShape<typeof DecisionFilterSchema>,
  after: bigint | undefined,
): Promise<Watch> {
  const { records: newest } = await audit.listDecisions({ limit: 1 }, reading(call));
  const from = after ?? newest[0]?.seq ?? 0n;
  return { after: from, records: recordsAfter(audit, call, filter, from) };
}

async function* recordsAfter(
  audit: Peers["audit"],
  call: Call,
  filter: MessageInitShape<typeof DecisionFilterSchema>,
  afterSeq: bigint,
): AsyncGenerator<DecisionRecord> {
  for await (const { record } of audit.watchDecisions({ filter, afterSeq }, reading(call))) {
    if (record) yield record;
  }
}
