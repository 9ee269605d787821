import { describe, expect, test } from "@jest/globals";
import { dueRetention } from "./due-retention.ts";
import { isTableDue, tableExpiry } from "./table-expiry.ts";
import type { TableFacts } from "./table-facts.ts";

const USED = new Date("2026-01-01T00:00:00Z");
const later = (days: number) => new Date(USED.getTime() + days * 86_400_000);
const table = (facts: Partial<TableFacts> = {}): TableFacts => ({
  tableId: "t",
  tenant: "local",
  environmentId: "e",
  environment: "dev",
  namespace: "bronze",
  name: "trial",
  owner: "ana",
  kind: "managed",
  state: "live",
  projectAsset: false,
  environmentProtected: false,
  restoredAt: null,
  lastActivityAt: USED,
  lastActivityKind: "read",
  tableRule: { kind: "days", days: 10, setBy: "ana", setAt: USED },
  environmentRule: null,
  changeVersion: 1n,
  retentionVersion: 1n,
  policyVersion: 0n,
  signalFloorAt: null,
  daySeconds: 86_400,
  ...facts,
});

describe("tableExpiry", () => {
  test("T4 counts from the last activity", () => {
    expect(tableExpiry(table())).toMatchObject({ expiresAt: later(10), lastActivityAt: USED });
  });

  test("counts from the floor of the signal where activity may have been lost before it", () => {
    expect(tableExpiry(table({ signalFloorAt: later(4) }))).toMatchObject({
      expiresAt: later(14),
      lastActivityAt: later(4),
    });
    expect(tableExpiry(table({ signalFloorAt: later(-4) })).expiresAt).toEqual(later(10));
  });

  test.each([{ state: "unknown" as const }, { kind: null }, { lastActivityAt: null }])(
    "%j: of a table nobody has spoken of nothing is said",
    (unknown) => {
      expect(tableExpiry(table(unknown))).toMatchObject({ source: null, expiresAt: null });
    },
  );

  test.each(["dropped", "purging", "purged"] as const)("a %s table does not expire", (state) => {
    expect(tableExpiry(table({ state }))).toMatchObject({ source: "table", expiresAt: null });
  });
});

describe("isTableDue", () => {
  const isDue = (facts: TableFacts, now: Date) => isTableDue(facts, tableExpiry(facts), now);

  test("from its expiry on", () => {
    expect(isDue(table(), new Date(later(10).getTime() - 1))).toBe(false);
    expect(isDue(table(), later(10))).toBe(true);
  });

  test("a staged table, which nobody sees yet, is never due", () => {
    expect(isDue(table({ state: "staged" }), later(99))).toBe(false);
  });
});

describe("dueRetention", () => {
  test("T32 says by which rule the table is due, who set it, and what it counted from", () => {
    expect(dueRetention(table(), later(10))).toEqual({
      source: "table",
      days: 10,
      on: null,
      setBy: "ana",
      setAt: USED,
      lastActivityAt: USED,
      expiredAt: later(10),
    });
  });

  test("is null for a table that is not due, or kept", () => {
    expect(dueRetention(table(), later(9))).toBeNull();
    expect(dueRetention(table({ environmentProtected: true }), later(99))).toBeNull();
    expect(dueRetention(table({ projectAsset: true }), later(99))).toBeNull();
    expect(
      dueRetention(table({ tableRule: { kind: "never", setBy: "ana", setAt: USED } }), later(99)),
    ).toBeNull();
  });
});
