import {
  type RunSweepResponse,
  type Sweep,
  type SweepHold,
  type SweepOutcome,
  SweepStatus,
} from "@lapse/proto/evaluator";
import type {
  SweepHoldJson,
  SweepJson,
  SweepRunJson,
  SweepWithOutcomesJson,
} from "../schemas/sweep.ts";
import { renderExpiringTable } from "./retention.ts";
import { count, instant, instantOrNull, oneOf, textOrNull, word } from "./values.ts";

const STATUSES = {
  [SweepStatus.REQUESTED]: "requested",
  [SweepStatus.RUNNING]: "running",
  [SweepStatus.COMPLETED]: "completed",
  [SweepStatus.HELD]: "held",
  [SweepStatus.INTERRUPTED]: "interrupted",
} as const;

export const renderSweep = (sweep: Sweep): SweepJson => ({
  id: sweep.sweepId,
  status: word(STATUSES, sweep.status, "sweep.status"),
  requested_by: textOrNull(sweep.requestedBy),
  started_at: instantOrNull(sweep.startedAt),
  finished_at: instantOrNull(sweep.finishedAt),
  fence: Object.fromEntries(sweep.fence.map(({ stream, sequence }) => [stream, count(sequence)])),
  due: sweep.due,
  dropped: sweep.dropped,
  kept: sweep.kept,
  failed: sweep.failed,
  held_reason: textOrNull(sweep.heldReason),
  held_environments: sweep.heldEnvironments,
  capped: sweep.capped,
});

export const renderSweepWithOutcomes = (
  sweep: Sweep,
  outcomes: readonly SweepOutcome[],
): SweepWithOutcomesJson => ({
  ...renderSweep(sweep),
  outcomes: outcomes.map((each) => ({
    table_id: each.tableId,
    name: each.name,
    outcome: each.outcome,
    reason: textOrNull(each.reason),
    issued_at: instant(each.issuedAt, "outcome.issued_at"),
    answered_at: instantOrNull(each.answeredAt),
  })),
});

export function renderSweepHold(hold: SweepHold): SweepHoldJson {
  const kind = oneOf(["breaker", "clock"], hold.kind, "hold.kind");
  const ofBreaker = kind === "breaker";
  return {
    id: textOrNull(hold.holdId),
    kind,
    environment: textOrNull(hold.environment),
    raised_at: instant(hold.raisedAt, "hold.raised_at"),
    due: ofBreaker ? hold.due : null,
    tables: ofBreaker ? hold.tables : null,
    share: ofBreaker ? hold.share : null,
    last_seen_at: instantOrNull(hold.lastSeenAt),
    now: instantOrNull(hold.now),
    confirmed_by: textOrNull(hold.confirmedBy),
    confirmed_at: instantOrNull(hold.confirmedAt),
  };
}

export const renderSweepRun = (
  { sweep, wouldDrop, held }: RunSweepResponse,
  dryRun: boolean,
): SweepRunJson => ({
  sweep: sweep ? renderSweep(sweep) : null,
  would_drop: dryRun
    ? wouldDrop.flatMap(({ expiry, environment }) =>
        expiry ? [{ ...renderExpiringTable(expiry), environment }] : [],
      )
    : null,
  held: dryRun ? held.map(renderSweepHold) : null,
});
