import fc from "fast-check";
import {
  calendarDay,
  dayLength,
  type EnvironmentRetention,
  type ExpiryFacts,
  MAX_DAYS,
  type TableRetention,
} from "../src/index.ts";

/** Instants of the years that tables live in, to the millisecond. */
export const instant: fc.Arbitrary<Date> = fc.date({
  min: new Date("2020-01-01T00:00:00.000Z"),
  max: new Date("2040-01-01T00:00:00.000Z"),
  noInvalidDate: true,
});

export const instantOrNull: fc.Arbitrary<Date | null> = fc.option(instant);

export const days: fc.Arbitrary<number> = fc.integer({ min: 1, max: MAX_DAYS });

const setting = { setBy: fc.string(), setAt: instant };

export const daysRule: fc.Arbitrary<TableRetention> = fc.record({
  kind: fc.constant("days" as const),
  days,
  ...setting,
});

export const onRule: fc.Arbitrary<TableRetention> = fc.record({
  kind: fc.constant("on" as const),
  on: instant.map(calendarDay),
  ...setting,
});

export const neverRule: fc.Arbitrary<TableRetention> = fc.record({
  kind: fc.constant("never" as const),
  ...setting,
});

export const tableRule: fc.Arbitrary<TableRetention> = fc.oneof(daysRule, onRule, neverRule);

export const environmentRule: fc.Arbitrary<EnvironmentRetention> = fc.record({ days, ...setting });

/** Any state of a table, views and protected environments included. */
export const facts: fc.Arbitrary<ExpiryFacts> = fc.record({
  kind: fc.constantFrom("managed", "view", "external", "artifact"),
  lastActivityAt: instant,
  restoredAt: instantOrNull,
  tableRule: fc.option(tableRule),
  environmentRule: fc.option(environmentRule),
  environmentProtected: fc.boolean(),
  projectAsset: fc.boolean(),
  dayLength: fc.constantFrom(1, 60, 86_400).map(dayLength),
});
