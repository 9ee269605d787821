import { expect, test } from "@jest/globals";
import { createMetrics } from "./metrics.ts";

test("metrics are written with the service and their labels", async () => {
  const metrics = createMetrics("catalog");
  metrics.counter("lapse_tables_dropped_total", "Tables dropped", ["by"]).inc({ by: "retention" });
  metrics.gauge("lapse_outbox_unsent", "Events not yet sent").set(3);
  metrics.histogram("lapse_sweep_seconds", "Time of a sweep", [], [1, 60]).observe(2);
  const text = await metrics.registry.metrics();
  expect(text).toContain('lapse_tables_dropped_total{by="retention",service="catalog"} 1');
  expect(text).toContain('lapse_outbox_unsent{service="catalog"} 3');
  expect(text).toContain('lapse_sweep_seconds_bucket{le="60",service="catalog"} 1');
});

test("asking for a metric twice gives the same one", async () => {
  const metrics = createMetrics("catalog");
  metrics.counter("lapse_parked_total", "Messages parked").inc();
  metrics.counter("lapse_parked_total", "Messages parked").inc();
  expect(await metrics.registry.metrics()).toContain('lapse_parked_total{service="catalog"} 2');
});

test("a name is used for one type of metric only", () => {
  const metrics = createMetrics("catalog");
  metrics.counter("lapse_parked_total", "Messages parked");
  expect(() => metrics.gauge("lapse_parked_total", "Messages parked")).toThrow(/another type/);
});

test.each(["parked_total", "lapse_Parked", "lapse_", "lapse_a__b", "lapse_a-b"])(
  "the name %p is refused",
  (name) => {
    expect(() => createMetrics("catalog").counter(name, "x")).toThrow(/lapse_<noun>_<unit>/);
  },
);

test("two services in one process keep their metrics apart", async () => {
  const [a, b] = [createMetrics("a"), createMetrics("b")];
  a.counter("lapse_x_total", "x").inc();
  expect(await b.registry.metrics()).not.toContain("lapse_x_total");
});

test("metrics of the process come on demand", async () => {
  const text = await createMetrics("catalog", { process: true }).registry.metrics();
  expect(text).toContain("process_cpu_seconds_total");
  expect(await createMetrics("catalog").registry.metrics()).toBe("\n");
});
