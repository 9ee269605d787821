import {
  type RunSweepResponse,
  type Sweep,
  type SweepOutcome,
  SweepStatus,
} from "@lapse/proto/evaluator";
import type { SweepJson, SweepRunJson, SweepWithOutcomesJson } from "../schemas/sweep.ts";
import { renderExpiringTable } from "./retention.ts";
import { count, instant, instantOrNull, textOrNull, word } from "./values.ts";

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

export const renderSweepRun = (
  { sweep, wouldDrop }: RunSweepResponse,
  dryRun: boolean,
): SweepRunJson => ({
  sweep: sweep ? renderSweep(sweep) : null,
  would_drop: dryRun
    ? wouldDrop.flatMap(({ expiry, environment }) =>
        expiry ? [{ ...renderExpiringTable(expiry), environment }] : [],
      )
    : null,
});
