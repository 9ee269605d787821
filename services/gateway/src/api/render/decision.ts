import { internal } from "@lapse/kit";
import type { DecisionRecord, VerifyChainResponse } from "@lapse/proto/audit";
import { DecisionOutcome } from "@lapse/proto/events";
import type { ChainVerificationJson, DecisionRecordJson } from "../schemas/audit.ts";
import { count, instant, textOrNull, word } from "./values.ts";

const OUTCOMES = {
  [DecisionOutcome.DONE]: "done",
  [DecisionOutcome.KEPT]: "kept",
  [DecisionOutcome.REFUSED]: "refused",
  [DecisionOutcome.FAILED]: "failed",
} as const;

export function renderDecision({ decision, seq, hash }: DecisionRecord): DecisionRecordJson {
  if (!decision) throw internal(new TypeError(`record ${seq} of audit holds no decision`));
  const { resource } = decision;
  return {
    id: decision.id,
    seq: count(seq),
    at: instant(decision.at, "decision.at"),
    type: decision.type,
    service: decision.service,
    tenant: decision.tenant,
    actor: textOrNull(decision.actor),
    resource: {
      kind: resource?.kind ?? "",
      id: resource?.id ?? "",
      name: resource?.name ?? "",
      environment: textOrNull(resource?.environment ?? ""),
    },
    outcome: word(OUTCOMES, decision.outcome, "decision.outcome"),
    reason: decision.reason,
    details: decision.details ?? {},
    run_id: textOrNull(decision.runId),
    trace_id: textOrNull(decision.traceId),
    hash,
  };
}

export const renderVerification = (answer: VerifyChainResponse): ChainVerificationJson => ({
  ok: answer.ok,
  records: count(answer.records),
  head_hash: answer.headHash,
  broken_at_seq: answer.brokenAtSeq === 0n ? null : count(answer.brokenAtSeq),
  fault: textOrNull(answer.fault),
  gaps: answer.gaps.map(({ source, fromSequence, toSequence }) => ({
    source,
    from: count(fromSequence),
    to: count(toSequence),
  })),
});
