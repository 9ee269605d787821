import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { invalid, precondition, unavailable } from "@lapse/kit";
import { TableKind } from "@lapse/proto/events";
import { type Harness, startHarness } from "./harness.ts";
import { anExpiry, aTable, at, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => {
  harness.reset();
  harness.fakes.catalog.getTable = () => ({ table: aTable() });
});
afterAll(() => harness.stop());

const BY_NAME = "/api/v1/environments/dev/namespaces/bronze/tables/trial/retention";
const BY_ID = `/api/v1/tables/${TABLE_ID}/retention`;

describe("GET retention (T2)", () => {
  test.each([BY_NAME, BY_ID])("of %s is at least as new as the catalog's row", async (path) => {
    harness.fakes.evaluator.getTableExpiry = ({ tableId, atLeast }) => {
      expect(tableId).toBe(TABLE_ID);
      expect(atLeast).toMatchObject({ changeVersion: 7n, retentionVersion: 5n, policyVersion: 3n });
      return { expiry: anExpiry() };
    };
    const { status, json } = await harness.call("GET", path);
    expect(status).toBe(200);
    expect(json).toEqual({
      source: "table",
      days: 30,
      on: null,
      never: false,
      set_by: "ana@example.org",
      set_at: "2026-11-20T10:00:00.123Z",
      last_activity_at: "2026-11-21T10:00:00.000Z",
      last_activity_kind: "read",
      expires_at: "2026-12-21T10:00:00.000Z",
      expires_soon: false,
      kept: null,
    });
  });

  test("T19 says what keeps a table that a rule would expire", async () => {
    harness.fakes.evaluator.getTableExpiry = () => ({
      expiry: anExpiry({
        source: "environment",
        rule: { rule: { case: "days", value: 7 } },
        kept: "protected",
        expiresAt: undefined,
      }),
    });
    const { json } = await harness.call("GET", BY_NAME);
    expect(json).toMatchObject({ source: "environment", kept: "protected", expires_at: null });
  });

  test.each([
    [{ case: "on", value: "2026-12-31" } as const, { on: "2026-12-31", days: null, never: false }],
    [{ case: "never", value: true } as const, { on: null, days: null, never: true }],
  ])("shows the rule %j", async (rule, shown) => {
    harness.fakes.evaluator.getTableExpiry = () => ({ expiry: anExpiry({ rule: { rule } }) });
    expect((await harness.call("GET", BY_NAME)).json).toMatchObject(shown);
  });

  test("T2 a table without any rule does not expire", async () => {
    harness.fakes.evaluator.getTableExpiry = () => ({
      expiry: { tableId: TABLE_ID, lastActivityKind: "created" },
    });
    const { json } = await harness.call("GET", BY_NAME);
    expect(json).toMatchObject({ source: null, days: null, never: false, expires_at: null });
  });

  test("T22 a view has none, whoever answers", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable({ kind: TableKind.VIEW }) });
    expect((await harness.call("GET", BY_NAME)).json).toMatchObject({
      source: null,
      expires_at: null,
    });
  });

  test("has a change that died half-way settled, as the gateway itself, and then answers", async () => {
    const settled: unknown[] = [];
    harness.fakes.evaluator.getTableExpiry = () => {
      if (settled.length < 2) throw unavailable("EVALUATOR_BEHIND", "not evaluated yet; repeat");
      return { expiry: anExpiry() };
    };
    harness.fakes.policy.settleTableRetention = ({ tableId, retentionVersion }, call) => {
      settled.push([call.principal.kind, tableId, retentionVersion]);
      return {};
    };
    harness.fakes.policy.settleEnvironmentRetention = ({ policyVersion }, call) => {
      settled.push([call.principal.kind, policyVersion]);
      return {};
    };
    const { status } = await harness.call("GET", BY_NAME);
    expect(status).toBe(200);
    expect(settled).toEqual([
      ["service", TABLE_ID, 5n],
      ["service", 3n],
    ]);
  });

  test("answers 503 rather than something that may be wrong", async () => {
    harness.fakes.evaluator.getTableExpiry = () => {
      throw unavailable(
        "EVALUATOR_BEHIND",
        "the evaluator has not read the latest changes; repeat",
      );
    };
    const { status, json, headers } = await harness.call("GET", BY_NAME);
    expect({ status, code: json.code }).toEqual({ status: 503, code: "EVALUATOR_BEHIND" });
    expect(headers["retry-after"]).toBe("1");
  });
});

describe("PUT retention (T3)", () => {
  const answers = (over: object = {}) => {
    const asked: unknown[] = [];
    harness.fakes.policy.setTableRetention = ({ tableId, rule }) => {
      asked.push([tableId, rule?.rule.case, rule?.rule.value]);
      return {
        retention: {
          tableId,
          ...(rule && { rule }),
          setBy: "ana@example.org",
          setAt: at("2026-11-30T12:00:00.000Z"),
          retentionVersion: 9n,
        },
        shortened: true,
        lastActivityAt: at("2026-11-30T11:59:59.999Z"),
        expiresAt: at("2026-12-03T11:59:59.999Z"),
        ...over,
      };
    };
    return asked;
  };

  test.each([BY_NAME, BY_ID])(
    "%s sets days, and needs no evaluator to say the result",
    async (path) => {
      const asked = answers();
      const { status, json } = await harness.call("PUT", path, {
        body: { days: 3 },
        headers: { "idempotency-key": "k" },
      });
      expect(asked).toEqual([[TABLE_ID, "days", 3]]);
      expect(status).toBe(200);
      expect(json).toEqual({
        source: "table",
        days: 3,
        on: null,
        never: false,
        set_by: "ana@example.org",
        set_at: "2026-11-30T12:00:00.000Z",
        last_activity_at: "2026-11-30T11:59:59.999Z",
        last_activity_kind: "changed",
        expires_at: "2026-12-03T11:59:59.999Z",
        expires_soon: true,
        kept: null,
        shortened: true,
      });
      expect(harness.calls.at(-1)?.idempotencyKey).toBe("k");
    },
  );

  test("what lies beyond the warning window does not expire soon", async () => {
    answers({ expiresAt: at("2026-12-07T12:00:00.001Z"), shortened: undefined });
    const { json } = await harness.call("PUT", BY_NAME, { body: { days: 8 } });
    expect(json).toMatchObject({ expires_soon: false, shortened: null });
  });

  test("sets a day", async () => {
    const asked = answers();
    const { json } = await harness.call("PUT", BY_NAME, { body: { on: "2026-12-31" } });
    expect(asked).toEqual([[TABLE_ID, "on", "2026-12-31"]]);
    expect(json).toMatchObject({ on: "2026-12-31", days: null });
  });

  test("sets never", async () => {
    const asked = answers({ expiresAt: undefined, shortened: false });
    const { json } = await harness.call("PUT", BY_NAME, { body: { never: true } });
    expect(asked).toEqual([[TABLE_ID, "never", true]]);
    expect(json).toMatchObject({
      never: true,
      expires_at: null,
      expires_soon: false,
      shortened: false,
    });
  });

  test("T20 an asset of the current project version is kept whatever is set", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable({ projectAsset: true }) });
    answers();
    const { json } = await harness.call("PUT", BY_NAME, { body: { days: 3 } });
    expect(json).toMatchObject({ kept: "project_asset", expires_at: null, expires_soon: false });
  });

  test.each([
    [{}, "#", "exactly one"],
    [{ days: 3, never: true }, "#", "exactly one"],
    [{ days: "30d" }, "#/days", '"30d" is a duration; days takes a whole number'],
    [{ days: "2026-12-31" }, "#/days", "is a date; days takes a whole number"],
    [{ days: "30" }, "#/days", "whole number"],
    [{ days: null }, "#/days", "whole number"],
    [{ days: 0 }, "#/days", "days must be 1 to 3650, not 0"],
    [{ days: 1e20 }, "#/days", "1 to 3650"],
    [{ on: "30d" }, "#/on", '"30d" is a duration; on takes a date'],
    [{ on: 5 }, "#/on", "5 is a duration; on takes a date"],
    [{ on: "P30D" }, "#/on", "is a duration; on takes a date"],
    [{ on: "2026-02-30" }, "#/on", "not a day of the calendar"],
    [{ on: "2026-12-31T00:00:00Z" }, "#/on", "YYYY-MM-DD"],
    [{ never: false }, "#/never", "only true"],
    [{ days: 3, forever: true }, "#/forever", "not known"],
    [[], "#", ""],
    ["3", "#", ""],
  ])("T10 refuses %j at %s", async (body, pointer, says) => {
    const { status, json } = await harness.call("PUT", BY_NAME, {
      body: typeof body === "string" ? JSON.stringify(body) : body,
    });
    expect(status).toBe(400);
    expect(json.errors).toEqual([{ pointer, detail: expect.stringContaining(says) }]);
    expect(harness.calls).toHaveLength(0);
  });

  test("T3 leaves it to retention-policy whether a day is still to come, and passes its refusal on", async () => {
    harness.fakes.policy.setTableRetention = () => {
      const message = "2020-01-01 is not after today; to expire the table now, drop it instead";
      throw invalid("RETENTION_INVALID", message, {
        violations: [{ field: "/on", description: message }],
      });
    };
    const { status, json } = await harness.call("PUT", BY_NAME, { body: { on: "2020-01-01" } });
    expect(status).toBe(400);
    expect(json).toMatchObject({
      code: "RETENTION_INVALID",
      errors: [{ pointer: "#/on", detail: expect.stringContaining("drop it instead") }],
    });
  });

  test("T19 passes a protected environment on as a conflict with the state", async () => {
    harness.fakes.policy.setTableRetention = () => {
      throw precondition("ENVIRONMENT_PROTECTED", "only never can be set there");
    };
    const { status, json } = await harness.call("PUT", BY_NAME, { body: { days: 3 } });
    expect({ status, code: json.code }).toEqual({ status: 409, code: "ENVIRONMENT_PROTECTED" });
  });
});
