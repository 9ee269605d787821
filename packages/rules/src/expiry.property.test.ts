import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  daysRule,
  environmentRule,
  facts,
  instant,
  instantOrNull,
  neverRule,
  onRule,
} from "../test/arbitraries.ts";
import { daysAfter } from "./day.ts";
import { type Expiry, type ExpiryFacts, expiresSoon, expiryOf, isDue } from "./expiry.ts";
import { later } from "./instant.ts";
import { compareExpiry, isShortened } from "./shortened.ts";

/** A managed table with nothing that keeps it. */
const free: fc.Arbitrary<ExpiryFacts> = facts.map((any) => ({
  ...any,
  kind: "managed",
  environmentProtected: false,
  projectAsset: false,
}));

function withActivity(table: ExpiryFacts, lastActivityAt: Date): Expiry {
  return expiryOf({ ...table, lastActivityAt });
}

describe("expiryOf", () => {
  test("T15 a read never moves the expiry earlier", () => {
    fc.assert(
      fc.property(facts, instant, (table, readAt) => {
        const before = expiryOf(table);
        const after = withActivity(table, later(table.lastActivityAt, readAt));
        expect(isShortened(before.expiresAt, after.expiresAt)).toBe(false);
      }),
    );
  });

  test("T4 later activity never means an earlier expiry", () => {
    fc.assert(
      fc.property(facts, instant, instant, (table, a, b) => {
        const [first, second] = later(a, b) === a ? [b, a] : [a, b];
        const order = compareExpiry(
          withActivity(table, first).expiresAt,
          withActivity(table, second).expiresAt,
        );
        expect(order).toBeLessThanOrEqual(0);
      }),
    );
  });

  test("T15 activity never moves an `on` date", () => {
    fc.assert(
      fc.property(free, onRule, instant, (table, tableRule, activity) => {
        const dated = { ...table, tableRule, restoredAt: null };
        expect(withActivity(dated, activity)).toEqual(expiryOf(dated));
      }),
    );
  });

  test("T14 events fold to the same expiry in any order and with duplicates", () => {
    const shuffled = fc
      .array(instant, { minLength: 1, maxLength: 20 })
      .chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
      );
    fc.assert(
      fc.property(facts, shuffled, (table, [events, reordered]) => {
        const folded = (list: readonly Date[]): Expiry =>
          withActivity(table, list.reduce(later, table.lastActivityAt));
        expect(folded([...reordered, ...events])).toEqual(folded(events));
      }),
    );
  });

  test("T4 days give exactly the full period after the last activity", () => {
    fc.assert(
      fc.property(free, daysRule, (table, tableRule) => {
        fc.pre(tableRule.kind === "days");
        const period = tableRule.days * table.dayLength;
        const expiry = expiryOf({ ...table, tableRule });
        expect(Number(expiry.expiresAt) - table.lastActivityAt.getTime()).toBe(period);
      }),
    );
  });

  test("T8 an environment's rule gives every table at least the full period after it is set", () => {
    fc.assert(
      fc.property(free, environmentRule, (table, rule) => {
        const expiry = expiryOf({ ...table, tableRule: null, environmentRule: rule });
        const fullPeriod = daysAfter(rule.setAt, rule.days, table.dayLength);
        expect(isShortened(fullPeriod, expiry.expiresAt)).toBe(false);
      }),
    );
  });

  test("T8 setting an environment's rule makes no table without a rule of its own due", () => {
    fc.assert(
      fc.property(free, environmentRule, instant, (table, rule, now) => {
        const changed = { ...table, tableRule: null, environmentRule: { ...rule, setAt: now } };
        expect(isDue(expiryOf(changed), now)).toBe(false);
      }),
    );
  });

  test("T9 a table's own never is never, whatever else holds", () => {
    fc.assert(
      fc.property(facts, neverRule, (table, tableRule) => {
        expect(expiryOf({ ...table, tableRule }).expiresAt).toBeNull();
      }),
    );
  });

  test("T9 the environment's rule does not touch a table with a rule that stands", () => {
    fc.assert(
      fc.property(free, fc.option(environmentRule), (table, environment) => {
        const standing = { ...table, restoredAt: null };
        fc.pre(standing.tableRule !== null);
        expect(expiryOf({ ...standing, environmentRule: environment })).toEqual(expiryOf(standing));
      }),
    );
  });

  test("T19 T20 T22 what is protected, an asset or not managed has no expiry", () => {
    fc.assert(
      fc.property(facts, (table) => {
        fc.pre(table.kind !== "managed" || table.environmentProtected || table.projectAsset);
        expect(expiryOf(table).expiresAt).toBeNull();
      }),
    );
  });

  test("T19 T20 taking away what keeps a table shows the expiry that it was kept from", () => {
    fc.assert(
      fc.property(facts, (table) => {
        const bare = expiryOf({ ...table, environmentProtected: false, projectAsset: false });
        const { kept, ...seen } = expiryOf(table);
        expect({ ...seen, expiresAt: bare.expiresAt }).toEqual({ ...bare, kept: undefined });
        expect(kept !== null).toBe(
          bare.expiresAt !== null && (table.environmentProtected || table.projectAsset),
        );
      }),
    );
  });

  test("T28 a restored table is not due at the instant of its restore", () => {
    fc.assert(
      fc.property(facts, instant, (table, restoredAt) => {
        const restored = { ...table, restoredAt, lastActivityAt: restoredAt };
        expect(isDue(expiryOf(restored), restoredAt)).toBe(false);
      }),
    );
  });

  test("T2 says who set a rule exactly when there is one, and one of days, on and never", () => {
    fc.assert(
      fc.property(facts, (table) => {
        const { source, days, on, never, setBy, setAt } = expiryOf(table);
        const terms = [days !== null, on !== null, never].filter(Boolean);
        expect(terms).toHaveLength(source === null ? 0 : 1);
        expect([setBy !== null, setAt !== null]).toEqual([source !== null, source !== null]);
      }),
    );
  });

  test("changes nothing that it is given", () => {
    fc.assert(
      fc.property(facts, (table) => {
        const copy = structuredClone(table);
        expiryOf(table);
        expect(table).toEqual(copy);
      }),
    );
  });
});

describe("isDue and expiresSoon", () => {
  test("T11 what is due is due for good, and soon in every window", () => {
    fc.assert(
      fc.property(instantOrNull, instant, fc.nat(), (expiresAt, now, ms) => {
        fc.pre(isDue({ expiresAt }, now));
        expect(isDue({ expiresAt }, new Date(now.getTime() + ms))).toBe(true);
        expect(expiresSoon({ expiresAt }, now, ms)).toBe(true);
      }),
    );
  });

  test("T11 expires soon exactly when it is due at the end of the window", () => {
    fc.assert(
      fc.property(instantOrNull, instant, fc.nat(), (expiresAt, now, windowMs) => {
        const end = new Date(now.getTime() + windowMs);
        expect(expiresSoon({ expiresAt }, now, windowMs)).toBe(isDue({ expiresAt }, end));
      }),
    );
  });
});
