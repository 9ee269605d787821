import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type GetEvaluatorStatusResponseSchema,
  type GetTableReadsResponseSchema,
  type SweepHoldSchema,
  type SweepOutcomeSchema,
  type SweepSchema,
  SweepStatus,
  type TableExpirySchema,
} from "@lapse/proto/evaluator";
import type { TableReads } from "../app/get-table-reads.ts";
import type { TableExpiryAnswer } from "../app/table-expiry-answer.ts";
import type { EvaluatorStatus } from "../domain/evaluator-status.ts";
import type { Sweep, SweepOutcome } from "../domain/sweep.ts";
import type { SweepHold } from "../domain/sweep-hold.ts";
import { ruleMessage } from "../events/table-due.ts";

/** A time that may be missing. */
const time = (date: Date | null) => (date === null ? undefined : timestampFromDate(date));

/** A message leaves out what it does not know. */
function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]: Exclude<T[K], undefined> };
}

export function renderExpiry({
  facts,
  expiry,
  expiresSoon,
}: TableExpiryAnswer): MessageInitShape<typeof TableExpirySchema> {
  return {
    tableId: facts.tableId,
    source: expiry.source ?? "",
    setBy: expiry.setBy ?? "",
    lastActivityKind: facts.lastActivityKind ?? "",
    kept: expiry.kept ?? "",
    expiresSoon,
    environmentId: facts.environmentId ?? "",
    namespace: facts.namespace,
    name: facts.name,
    ...present({
      rule: expiry.source === null ? undefined : ruleMessage(expiry),
      setAt: time(expiry.setAt),
      lastActivityAt: time(expiry.lastActivityAt),
      expiresAt: time(expiry.expiresAt),
    }),
  };
}

const STATUS: Readonly<Record<Sweep["status"], SweepStatus>> = {
  requested: SweepStatus.REQUESTED,
  running: SweepStatus.RUNNING,
  completed: SweepStatus.COMPLETED,
  held: SweepStatus.HELD,
  interrupted: SweepStatus.INTERRUPTED,
};

export function renderSweep(sweep: Sweep): MessageInitShape<typeof SweepSchema> {
  return {
    sweepId: sweep.sweepId,
    status: STATUS[sweep.status],
    requestedBy: sweep.requestedBy,
    fence: sweep.fence.map(({ stream, sequence }) => ({ stream, sequence })),
    due: sweep.due,
    dropped: sweep.dropped,
    kept: { ...sweep.kept },
    failed: sweep.failed,
    heldReason: sweep.heldReason,
    capped: sweep.capped,
    heldEnvironments: [...sweep.heldEnvironments],
    ...present({ startedAt: time(sweep.startedAt), finishedAt: time(sweep.finishedAt) }),
  };
}

export function renderOutcome(outcome: SweepOutcome): MessageInitShape<typeof SweepOutcomeSchema> {
  return {
    tableId: outcome.tableId,
    name: outcome.name,
    outcome: outcome.outcome,
    reason: outcome.reason,
    issuedAt: timestampFromDate(outcome.issuedAt),
    ...present({ answeredAt: time(outcome.answeredAt) }),
  };
}

export function renderHold(hold: SweepHold): MessageInitShape<typeof SweepHoldSchema> {
  const { breaker, clock } = hold;
  return {
    holdId: hold.holdId,
    kind: hold.kind,
    ...breaker,
    raisedAt: timestampFromDate(hold.raisedAt),
    confirmedBy: hold.confirmedBy ?? "",
    ended: hold.ended,
    ...present({
      lastSeenAt: time(clock?.lastSeenAt ?? null),
      now: time(clock?.now ?? null),
      confirmedAt: time(hold.confirmedAt),
    }),
  };
}

export function renderStatus(
  status: EvaluatorStatus,
): MessageInitShape<typeof GetEvaluatorStatusResponseSchema> {
  return {
    folds: status.folds.map(({ stream, foldedSequence, lastSequence, missing }) => ({
      stream,
      foldedSequence,
      lastSequence: lastSequence ?? 0n,
      brokerReachable: lastSequence !== null,
      missing,
    })),
    sweepsPaused: status.paused,
    pausedBy: status.pausedBy,
    pauseReason: status.pauseReason,
    sweepIntervalSeconds: status.intervalSeconds,
    scheduler: status.scheduler,
    ...present({
      nextSweepAt: time(status.nextSweepAt),
      lastSweep: status.lastSweep && renderSweep(status.lastSweep),
    }),
  };
}

export function renderReads({
  days,
  sources,
}: TableReads): MessageInitShape<typeof GetTableReadsResponseSchema> {
  return {
    days: days.map(({ day, source, reads }) => ({ day, source, reads })),
    sources: sources.map(({ source, lastReportedAt }) => ({
      source,
      lastReportedAt: timestampFromDate(lastReportedAt),
    })),
  };
}
