import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { denied, notFound, unavailable } from "@lapse/kit";
import { type Harness, startHarness } from "./harness.ts";
import { anEnvironment, anExpiry, at, ENVIRONMENT_ID, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => {
  harness.reset();
  harness.fakes.catalog.getEnvironment = ({ environment }) => {
    expect(environment?.ref).toMatchObject({ case: "name", value: "dev" });
    return { environment: anEnvironment() };
  };
});
afterAll(() => harness.stop());

const DEV = "/api/v1/environments/dev";
const RULE = {
  environmentId: ENVIRONMENT_ID,
  days: 30,
  setBy: "ana@example.org",
  setAt: at("2026-11-20T10:00:00.000Z"),
};

describe("environments", () => {
  test("T7 are listed with their retention", async () => {
    harness.fakes.catalog.listEnvironments = ({ limit, cursor }) => {
      expect({ limit, cursor }).toEqual({ limit: 10, cursor: "x" });
      return {
        environments: [anEnvironment(), anEnvironment({ environmentId: TABLE_ID, name: "prod" })],
        nextCursor: "y",
      };
    };
    harness.fakes.policy.batchGetEnvironmentRetentions = ({ environmentIds }) => {
      expect(environmentIds).toEqual([ENVIRONMENT_ID, TABLE_ID]);
      return { retentions: [RULE] };
    };
    const { json } = await harness.call("GET", "/api/v1/environments?limit=10&cursor=x");
    expect(json).toEqual({
      items: [
        {
          id: ENVIRONMENT_ID,
          name: "dev",
          protected: false,
          retention_days: 30,
          retention_set_by: "ana@example.org",
          retention_set_at: "2026-11-20T10:00:00.000Z",
          retention_unknown: false,
          table_bucket: "local--dev",
          created_by: "ana@example.org",
          created_at: "2026-11-01T00:00:00.000Z",
          rights: ["table.read"],
        },
        expect.objectContaining({ name: "prod", retention_days: null, retention_unknown: false }),
      ],
      next_cursor: "y",
    });
  });

  test("are shown while retention-policy does not answer, saying that it does not", async () => {
    harness.fakes.policy.batchGetEnvironmentRetentions = () => {
      throw unavailable("DATABASE_UNAVAILABLE", "away");
    };
    const { status, json } = await harness.call("GET", DEV);
    expect(status).toBe(200);
    expect(json).toMatchObject({ name: "dev", retention_days: null, retention_unknown: true });
  });

  test("are created, protected where asked", async () => {
    harness.fakes.policy.batchGetEnvironmentRetentions = () => ({});
    harness.fakes.catalog.createEnvironment = (
      { name, protected: isProtected },
      { idempotencyKey },
    ) => {
      expect(idempotencyKey).toBe("key-7");
      return { environment: anEnvironment({ name, protected: isProtected }) };
    };
    const { status, json } = await harness.call("POST", "/api/v1/environments", {
      body: { name: "prod", protected: true },
      headers: { "idempotency-key": "key-7" },
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({ name: "prod", protected: true });
  });

  test("T19 are protected and unprotected", async () => {
    harness.fakes.policy.batchGetEnvironmentRetentions = () => ({});
    harness.fakes.catalog.updateEnvironment = ({ protected: isProtected }) => ({
      environment: anEnvironment({ protected: isProtected === true }),
    });
    const on = await harness.call("PATCH", DEV, { body: { protected: true } });
    const off = await harness.call("PATCH", DEV, { body: { protected: false } });
    expect([on.json.protected, off.json.protected]).toEqual([true, false]);
    expect((await harness.call("PATCH", DEV, { body: {} })).status).toBe(400);
  });

  test("that are not there answer 404 with what the catalog says", async () => {
    harness.fakes.catalog.getEnvironment = () => {
      throw notFound("ENVIRONMENT_NOT_FOUND", "there is no environment dev");
    };
    for (const path of ["", "/retention", "/expiring-tables"]) {
      const { status, json } = await harness.call("GET", `${DEV}${path}`);
      expect({ status, code: json.code }).toEqual({ status: 404, code: "ENVIRONMENT_NOT_FOUND" });
    }
  });
});

describe("an environment's retention (T7)", () => {
  test("is shown, all null when there never was one", async () => {
    harness.fakes.policy.getEnvironmentRetention = () => ({ retention: RULE });
    expect((await harness.call("GET", `${DEV}/retention`)).json).toEqual({
      days: 30,
      set_by: "ana@example.org",
      set_at: "2026-11-20T10:00:00.000Z",
    });
    harness.fakes.policy.getEnvironmentRetention = () => ({});
    expect((await harness.call("GET", `${DEV}/retention`)).json).toEqual({
      days: null,
      set_by: null,
      set_at: null,
    });
  });

  test("is set to days, and turned off by null", async () => {
    const asked: unknown[] = [];
    harness.fakes.policy.setEnvironmentRetention = ({ environmentId, days }) => {
      asked.push([environmentId, days]);
      const { days: _days, ...off } = RULE;
      return { retention: days === undefined ? off : { ...RULE, days }, previousDays: 7 };
    };
    const on = await harness.call("PUT", `${DEV}/retention`, { body: { days: 14 } });
    expect(on.json).toMatchObject({ days: 14, previous_days: 7, set_by: "ana@example.org" });
    const off = await harness.call("PUT", `${DEV}/retention`, { body: { days: null } });
    expect(off.json).toMatchObject({ days: null, previous_days: 7, set_by: "ana@example.org" });
    expect(asked).toEqual([
      [ENVIRONMENT_ID, 14],
      [ENVIRONMENT_ID, undefined],
    ]);
  });

  test.each([
    [{}, "#/days", "whole number"],
    [{ days: "30d" }, "#/days", "duration"],
    [{ days: "2026-12-31" }, "#/days", "date"],
    [{ days: 0 }, "#/days", "1 to 3650"],
    [{ days: 3651 }, "#/days", "1 to 3650"],
    [{ days: 1.5 }, "#/days", "whole number"],
    [{ days: 30, off: true }, "#/off", "not known"],
  ])("T10 refuses %j, pointing at %s", async (body, pointer, says) => {
    const { status, json } = await harness.call("PUT", `${DEV}/retention`, { body });
    expect(status).toBe(400);
    expect(json.errors).toEqual([{ pointer, detail: expect.stringContaining(says) }]);
    expect(harness.calls).toHaveLength(0);
  });

  test("passes a refusal on as it is", async () => {
    harness.fakes.policy.setEnvironmentRetention = () => {
      throw denied("RIGHT_MISSING", "rita lacks the right environment.manage");
    };
    const { status, json } = await harness.call("PUT", `${DEV}/retention`, {
      body: { days: 30 },
      token: "rita",
    });
    expect(status).toBe(403);
    expect(json).toMatchObject({
      code: "RIGHT_MISSING",
      detail: "rita lacks the right environment.manage",
    });
  });
});

describe("GET expiring-tables (T11)", () => {
  test("asks by the environment's id, with the window and the page", async () => {
    harness.fakes.evaluator.listExpiringTables = (request) => {
      expect(request).toMatchObject({
        environmentId: ENVIRONMENT_ID,
        withinDays: 2.5,
        limit: 5,
        cursor: "c",
      });
      return { tables: [anExpiry({ expiresSoon: true })], nextCursor: "d" };
    };
    const { json } = await harness.call(
      "GET",
      `${DEV}/expiring-tables?within_days=2.5&limit=5&cursor=c`,
    );
    expect(json).toEqual({
      items: [
        {
          id: TABLE_ID,
          full_name: "bronze.trial",
          namespace: "bronze",
          name: "trial",
          source: "table",
          days: 30,
          on: null,
          never: false,
          set_by: "ana@example.org",
          set_at: "2026-11-20T10:00:00.123Z",
          last_activity_at: "2026-11-21T10:00:00.000Z",
          last_activity_kind: "read",
          expires_at: "2026-12-21T10:00:00.000Z",
          expires_soon: true,
          kept: null,
        },
      ],
      next_cursor: "d",
    });
  });

  test("leaves the window to the server when none is given", async () => {
    harness.fakes.evaluator.listExpiringTables = ({ withinDays }) => {
      expect(withinDays).toBe(0);
      return {};
    };
    expect((await harness.call("GET", `${DEV}/expiring-tables`)).status).toBe(200);
  });

  test.each(["0", "-1", "7d", "Infinity", "99999"])(
    "T10 refuses a window of %s",
    async (window) => {
      const { status, json } = await harness.call(
        "GET",
        `${DEV}/expiring-tables?within_days=${window}`,
      );
      expect(status).toBe(400);
      expect(json.errors[0]?.pointer).toBe("#/within_days");
    },
  );
});
