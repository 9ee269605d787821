import type { Metrics } from "@lapse/kit";

/** What this service counts; labels come from closed sets. */
export type EvaluatorMetrics = ReturnType<typeof evaluatorMetrics>;

/** Registers the service's metrics. */
export function evaluatorMetrics(metrics: Metrics) {
  return {
    folded: metrics.counter("lapse_events_folded_total", "Events folded, by stream", ["stream"]),
    foldLag: metrics.gauge(
      "lapse_fold_lag",
      "Messages on a stream that are not folded yet, by stream",
      ["stream"],
    ),
    fenceWait: metrics.histogram(
      "lapse_fence_wait_seconds",
      "Time until everything that had reached the streams was folded",
    ),
    clamped: metrics.counter(
      "lapse_activity_clamped_total",
      "Activities with a time in the future, counted as now",
    ),
    signalLost: metrics.counter(
      "lapse_signal_lost_total",
      "Times that messages were gone before they were folded, by stream",
      ["stream"],
    ),
    signalMissing: metrics.gauge(
      "lapse_signal_missing",
      "Events known to be missing and asked for again, by stream",
      ["stream"],
    ),
    due: metrics.counter("lapse_sweep_due_total", "Tables that sweeps found due and issued"),
    dropped: metrics.counter("lapse_sweep_dropped_total", "Issued tables that were dropped"),
    kept: metrics.counter("lapse_sweep_kept_total", "Issued tables that were kept"),
    failed: metrics.counter("lapse_sweep_failed_total", "Issued tables that could not be dropped"),
    held: metrics.gauge("lapse_sweep_held", "1 while sweeps are held back, by reason", ["reason"]),
    holds: metrics.gauge(
      "lapse_sweep_holds",
      "Guards of the sweep that wait for somebody to confirm, by kind",
      ["kind"],
    ),
    lastSuccess: metrics.gauge(
      "lapse_sweep_last_success_timestamp_seconds",
      "When a sweep of the schedule last ran to its end",
    ),
  };
}
