import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/**
 * The metrics of one service in a registry of its own. Names are `lapse_<noun>_<unit>`, labels come
 * from closed sets only (never an id or a name from outside). Asking twice gives the same metric.
 */
export interface Metrics {
  readonly registry: Registry;
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  gauge<L extends string = never>(name: string, help: string, labels?: readonly L[]): Gauge<L>;
  /** In seconds, from 1 ms to 10 s, unless `buckets` says otherwise. */
  histogram<L extends string = never>(
    name: string,
    help: string,
    labels?: readonly L[],
    buckets?: readonly number[],
  ): Histogram<L>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const NAME = /^lapse_[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/** Every metric carries the label `service`; with `process`, also CPU, memory, GC and event-loop lag of the process. */
export function createMetrics(service: string, options: { process?: boolean } = {}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  if (options.process) collectDefaultMetrics({ register: registry });

  /** The metric of that name, made at the first call; a second use of the name for another thing throws. */
  function once<M extends Counter | Gauge | Histogram>(
    kind: new (...args: never[]) => M,
    name: string,
    make: () => M,
  ): M {
    if (!NAME.test(name)) throw new Error(`metric ${name}: a name is lapse_<noun>_<unit>`);
    const known = registry.getSingleMetric(name);
    if (known === undefined) return make();
    if (!(known instanceof kind)) throw new Error(`metric ${name} is of another type already`);
    return known;
  }
  const base = (name: string, help: string, labels: readonly string[]) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });

  return {
    registry,
    counter: (name, help, labels = []) =>
      once(Counter, name, () => new Counter(base(name, help, labels))),
    gauge: (name, help, labels = []) =>
      once(Gauge, name, () => new Gauge(base(name, help, labels))),
    histogram: (name, help, labels = [], buckets = SECONDS) =>
      once(
        Histogram,
        name,
        () => new Histogram({ ...base(name, help, labels), buckets: [...buckets] }),
      ),
  };
}
