import type { Metrics } from "./metrics.ts";

/** What one consumer counts; the label is its name, from a set fixed in code. */
export interface ConsumerMetrics {
  processed(count: number): void;
  redelivered(count: number): void;
  parked(count: number): void;
  /** It was set up again: its consumer was gone, or the broker had fallen silent or stalled. */
  restarted(): void;
  lag(messages: number): void;
  /** Seconds that the handler took for a batch. */
  seconds(seconds: number): void;
}

export function consumerMetrics(metrics: Metrics, consumer: string): ConsumerMetrics {
  const labels = ["consumer"] as const;
  const counter = (name: string, help: string) => {
    const metric = metrics.counter(name, help, labels);
    metric.inc({ consumer }, 0);
    return (count: number) => metric.inc({ consumer }, count);
  };
  const restarted = counter(
    "lapse_consumer_restarted_total",
    "Times a consumer was set up again because it was gone, silent or stalled",
  );
  const lag = metrics.gauge(
    "lapse_consumer_lag",
    "Messages not yet delivered, or delivered and not yet acknowledged",
    labels,
  );
  const seconds = metrics.histogram(
    "lapse_consumer_seconds",
    "Time that the handler took for a batch",
    labels,
  );
  return {
    processed: counter("lapse_consumer_processed_total", "Messages handled"),
    redelivered: counter(
      "lapse_consumer_redelivered_total",
      "Messages that had been delivered before",
    ),
    parked: counter("lapse_parked_total", "Messages put aside in the stream PARKED"),
    restarted: () => restarted(1),
    lag: (messages) => lag.set({ consumer }, messages),
    seconds: (value) => seconds.observe({ consumer }, value),
  };
}
