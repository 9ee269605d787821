import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DecisionFilterSchema, DecisionRecord } from "@lapse/proto/audit";
import type { Peers } from "../peers.ts";
import { type Call, reading } from "./call.ts";

/** Which decisions to follow. */
export interface Watch {
  readonly filter: MessageInitShape<typeof DecisionFilterSchema>;
  /** Start after this seq; undefined: from now on. */
  readonly after: bigint | undefined;
}

/**
 * What is decided after a seq or from now on, oldest first, until the call's signal is aborted. Audit is
 * asked for a decision first, so that a refusal or an outage is told before any stream begins.
 *
 * @throws denied, unavailable as audit says.
 */
export async function watchDecisions(
  { audit }: Pick<Peers, "audit">,
  call: Call,
  watch: Watch,
): Promise<AsyncIterable<DecisionRecord>> {
  await audit.listDecisions({ limit: 1 }, reading(call));
  return records(audit, call, watch);
}

async function* records(
  audit: Peers["audit"],
  call: Call,
  { filter, after }: Watch,
): AsyncGenerator<DecisionRecord> {
  const request = after === undefined ? { filter } : { filter, afterSeq: after };
  for await (const { record } of audit.watchDecisions(request, reading(call))) {
    if (record) yield record;
  }
}
