import type { GetEvaluatorStatusResponse } from "@lapse/proto/evaluator";
import type { SystemView } from "../../app/system-status.ts";
import type { SystemStatusJson } from "../schemas/operations.ts";
import { renderSweep } from "./sweep.ts";
import { count, instantOrNull, textOrNull } from "./values.ts";

export const renderStatus = ({ services, evaluator, outboxes }: SystemView): SystemStatusJson => ({
  services: [...services],
  evaluator: evaluator ? renderEvaluator(evaluator) : null,
  outboxes: outboxes.map(({ service, head }) => ({
    service,
    unsent: count(head.unsent),
    oldest_unsent_at: instantOrNull(head.oldestUnsentAt),
  })),
});

const renderEvaluator = (
  status: GetEvaluatorStatusResponse,
): NonNullable<SystemStatusJson["evaluator"]> => ({
  folds: status.folds.map((fold) => ({
    stream: fold.stream,
    folded: count(fold.foldedSequence),
    last: count(fold.lastSequence),
    broker_reachable: fold.brokerReachable,
    missing: count(fold.missing),
  })),
  sweeps: {
    paused: status.sweepsPaused,
    paused_by: textOrNull(status.pausedBy),
    pause_reason: textOrNull(status.pauseReason),
    interval_seconds: status.sweepIntervalSeconds,
    next_at: instantOrNull(status.nextSweepAt),
    last: status.lastSweep ? renderSweep(status.lastSweep) : null,
    scheduler: textOrNull(status.scheduler),
  },
});
