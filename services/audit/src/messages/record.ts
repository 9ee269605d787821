import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DecisionRecordSchema } from "@lapse/proto/audit";
import { DecisionOutcome } from "@lapse/proto/events";
import { hexOf } from "../domain/chain.ts";
import type { DecisionRecord, Outcome } from "../domain/decision.ts";

/** A record of the log as the contract writes it. */
export function toRecordMessage(
  record: DecisionRecord,
): MessageInitShape<typeof DecisionRecordSchema> {
  return {
    seq: record.seq,
    hash: hexOf(record.hash),
    recordedAt: timestampFromDate(record.recordedAt),
    decision: {
      id: record.id,
      at: timestampFromDate(record.at),
      type: record.type,
      service: record.service,
      tenant: record.tenant,
      actor: record.actor,
      resource: { ...record.resource },
      outcome: OUTCOMES[record.outcome],
      reason: record.reason,
      details: record.details,
      runId: record.runId,
      traceId: record.traceId,
    },
  };
}

const OUTCOMES: Readonly<Record<Outcome, DecisionOutcome>> = {
  done: DecisionOutcome.DONE,
  kept: DecisionOutcome.KEPT,
  refused: DecisionOutcome.REFUSED,
  failed: DecisionOutcome.FAILED,
};
