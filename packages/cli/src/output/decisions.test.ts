import { expect, test } from "@jest/globals";
import type { DecisionRecord } from "@lapse/sdk";
import { decisionLine, decisionTable } from "./decisions.ts";

const record = (over: Partial<DecisionRecord>): DecisionRecord => ({
  id: "d",
  seq: 7,
  at: new Date("2026-11-30T12:00:00.123Z"),
  type: "TABLE_DROPPED",
  service: "catalog",
  tenant: "local",
  actor: null,
  resource: { kind: "table", id: "t", name: "bronze.trial", environment: "dev" },
  outcome: "done",
  reason: "retention",
  details: {},
  run_id: null,
  trace_id: null,
  hash: "h",
  ...over,
});

test("T32 an expiry tells its rule, who set it, the last activity and when it was over", () => {
  const retention = {
    source: "table",
    days: 3,
    set_by: "ana",
    last_activity_at: "2026-11-27T11:00:00.000Z",
    expired_at: "2026-11-30T11:00:00.000Z",
  };
  expect(decisionLine(record({ details: { retention } }))).toBe(
    "2026-11-30 12:00:00Z  TABLE_DROPPED  dev: bronze.trial  (catalog)  retention, 3 days, set on the table, by ana, last activity 2026-11-27 11:00:00Z, expired 2026-11-30 11:00:00Z",
  );
});

test("T32 a refusal tells who lacked which right", () => {
  const details = { right: "table.drop", method: "lapse.catalog.v1.CatalogService/DropTable" };
  const denied = {
    type: "AUTHORIZATION_DENIED",
    outcome: "refused",
    reason: "right_missing",
  } as const;
  expect(decisionLine(record({ ...denied, actor: "bob", details }))).toMatch(
    /bob {2}refused, right_missing, right table\.drop$/,
  );
});

test("a change of access tells whom it is for", () => {
  const details = { subject: "bob", role: "writer" };
  expect(decisionLine(record({ type: "ROLE_GRANTED", reason: "request", details }))).toMatch(
    /request, role writer, subject bob$/,
  );
});

test("details of another shape are passed over, and steer no terminal", () => {
  const details = { right: { a: 1 }, subject: "x\u001b[2J", retention: null, days: "3" };
  const line = decisionLine(record({ details }));
  expect(line).toContain("subject x\\x1b[2J");
  expect(line).not.toContain("right");
});

test("no decisions are said to be none", () => {
  expect(decisionTable([])).toBe("No decisions match.");
});
