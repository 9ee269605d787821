import type { GetPurgeStatusResponse } from "@lapse/proto/catalog";
import type { GetEvaluatorStatusResponse, SweepHold } from "@lapse/proto/evaluator";
import type { SystemView } from "../../app/system-status.ts";
import type { SystemStatusJson } from "../schemas/operations.ts";
import { renderSweep, renderSweepHold } from "./sweep.ts";
import { count, instant, instantOrNull, textOrNull } from "./values.ts";

export const renderStatus = (view: SystemView): SystemStatusJson => ({
  services: [...view.services],
  evaluator: view.evaluator ? renderEvaluator(view.evaluator, view.holds) : null,
  purges: view.purges ? renderPurges(view.purges) : null,
  outboxes: view.outboxes.map(({ service, head }) => ({
    service,
    unsent: count(head.unsent),
    oldest_unsent_at: instantOrNull(head.oldestUnsentAt),
  })),
});

const renderEvaluator = (
  status: GetEvaluatorStatusResponse,
  holds: readonly SweepHold[] | undefined,
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
    holds: holds?.map(renderSweepHold) ?? null,
    scheduler: textOrNull(status.scheduler),
  },
});

const renderPurges = ({
  waiting,
  clockHold,
}: GetPurgeStatusResponse): NonNullable<SystemStatusJson["purges"]> => ({
  waiting: count(waiting),
  clock_hold: clockHold
    ? {
        raised_at: instant(clockHold.raisedAt, "clock_hold.raised_at"),
        last_seen_at: instant(clockHold.lastSeenAt, "clock_hold.last_seen_at"),
        now: instant(clockHold.now, "clock_hold.now"),
        confirmed_by: textOrNull(clockHold.confirmedBy),
      }
    : null,
});
