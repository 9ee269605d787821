import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { denied, exhausted, invalid, notFound, precondition } from "@lapse/kit";
import { type Harness, startHarness } from "./harness.ts";
import { anAccess, at, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness.stop());

const ACCESS = "/api/v1/environments/dev/namespaces/bronze/tables/trial/access";
const ACCESS_BY_ID = `/api/v1/tables/${TABLE_ID}/access`;
const KEY = { headers: { "idempotency-key": "key-1" } };

const BY_NAME = {
  ref: { case: "name", value: { environment: "dev", namespace: "bronze", name: "trial" } },
};
const BY_ID = { ref: { case: "tableId", value: TABLE_ID } };

describe("the access of a table", () => {
  test("T28 shows everything that is set on it, and whether it applies", async () => {
    harness.fakes.access.getTableAccess = ({ table }) => {
      expect(table).toMatchObject(BY_NAME);
      return {
        access: anAccess({
          applies: false,
          grants: [
            {
              subject: "rita@example.org",
              right: "write",
              grantedBy: "ana@example.org",
              grantedAt: at("2026-11-30T12:00:00Z"),
            },
          ],
          rowFilters: [
            {
              name: "eu-only",
              appliesTo: "role:reader",
              column: "country",
              operator: "in",
              values: ["DE", "FR"],
              setBy: "ana@example.org",
              setAt: at("2026-11-30T12:00:00Z"),
            },
          ],
          columnMasks: [
            {
              column: "email",
              appliesTo: "*",
              mask: "hash",
              setBy: "ana@example.org",
              setAt: at("2026-11-30T12:00:00Z"),
            },
          ],
        }),
      };
    };
    const { status, json } = await harness.call("GET", ACCESS);
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        table_id: TABLE_ID,
        owner: "ana@example.org",
        applies: false,
        grants: [
          {
            subject: "rita@example.org",
            right: "write",
            granted_by: "ana@example.org",
            granted_at: "2026-11-30T12:00:00.000Z",
          },
        ],
        row_filters: [
          {
            name: "eu-only",
            applies_to: "role:reader",
            column: "country",
            operator: "in",
            values: ["DE", "FR"],
            set_by: "ana@example.org",
            set_at: "2026-11-30T12:00:00.000Z",
          },
        ],
        column_masks: [
          {
            column: "email",
            applies_to: "*",
            mask: "hash",
            set_by: "ana@example.org",
            set_at: "2026-11-30T12:00:00.000Z",
          },
        ],
      },
    });
  });

  test("T6 a grant is given and taken away, with the key of the call", async () => {
    const asked: unknown[] = [];
    harness.fakes.access.grantTable = ({ table, subject, right }, { idempotencyKey }) => {
      asked.push(["grant", table?.ref, subject, right, idempotencyKey]);
      return { access: anAccess() };
    };
    harness.fakes.access.revokeTable = ({ table, subject, right }, { idempotencyKey }) => {
      asked.push(["revoke", table?.ref, subject, right, idempotencyKey]);
      return { access: anAccess() };
    };
    const body = { subject: "key:0190f3a2", right: "drop" };
    const given = await harness.call("POST", `${ACCESS_BY_ID}/grants`, { body, ...KEY });
    const path = `${ACCESS}/grants/${encodeURIComponent("rita/ü@example.org")}/read`;
    const taken = await harness.call("DELETE", path, KEY);
    expect([given.status, taken.status]).toEqual([200, 200]);
    expect(taken.json).toMatchObject({ table_id: TABLE_ID, grants: [] });
    expect(asked).toMatchObject([
      ["grant", BY_ID.ref, "key:0190f3a2", "drop", "key-1"],
      ["revoke", BY_NAME.ref, "rita/ü@example.org", "read", "key-1"],
    ]);
  });

  test("a row filter is set and removed by its name", async () => {
    const asked: unknown[] = [];
    harness.fakes.access.setRowFilter = ({ filter }, { idempotencyKey }) => {
      asked.push([filter, idempotencyKey]);
      return { access: anAccess() };
    };
    harness.fakes.access.removeRowFilter = ({ name }) => {
      asked.push(name);
      return { access: anAccess() };
    };
    const body = { applies_to: "*", column: "deleted_at", operator: "is null" };
    expect(
      (await harness.call("PUT", `${ACCESS}/filters/live%20only`, { body, ...KEY })).status,
    ).toBe(200);
    expect((await harness.call("DELETE", `${ACCESS_BY_ID}/filters/live%20only`)).status).toBe(200);
    expect(asked).toMatchObject([
      [
        {
          name: "live only",
          appliesTo: "*",
          column: "deleted_at",
          operator: "is null",
          values: [],
        },
        "key-1",
      ],
      "live only",
    ]);
  });

  test("a column mask is set and removed by column and subject, everybody's unless said", async () => {
    const asked: unknown[] = [];
    harness.fakes.access.setColumnMask = ({ mask }) => {
      asked.push(mask);
      return { access: anAccess() };
    };
    harness.fakes.access.removeColumnMask = ({ column, appliesTo }) => {
      asked.push([column, appliesTo]);
      return { access: anAccess() };
    };
    const body = { mask: "last" };
    await harness.call("PUT", `${ACCESS}/masks/e.mail`, { body });
    await harness.call("PUT", `${ACCESS}/masks/email?applies_to=role%3Areader`, { body });
    await harness.call("DELETE", `${ACCESS}/masks/email?applies_to=role%3Areader`);
    await harness.call("DELETE", `${ACCESS_BY_ID}/masks/email`);
    expect(asked).toMatchObject([
      { column: "e.mail", appliesTo: "*", mask: "last" },
      { column: "email", appliesTo: "role:reader", mask: "last" },
      ["email", "role:reader"],
      ["email", "*"],
    ]);
  });

  test("T6 what the catalog refuses is the answer", async () => {
    const refusals = [
      [denied("RIGHT_MISSING", "rita lacks the right access.manage"), 403],
      [notFound("TABLE_NOT_FOUND", "there is no such table"), 404],
      [precondition("TABLE_DROPPED", "undrop it first"), 409],
      [exhausted("TOO_MANY_GRANTS", "a table takes 1000 grants"), 429],
    ] as const;
    for (const [error, expected] of refusals) {
      harness.fakes.access.grantTable = () => {
        throw error;
      };
      const body = { subject: "rita@example.org", right: "read" };
      const { status, json } = await harness.call("POST", `${ACCESS}/grants`, { body });
      expect({ status, code: json.code }).toEqual({ status: expected, code: error.reason });
    }
  });

  test("T10 the faults that the catalog finds point into the request", async () => {
    const faulty = (...fields: string[]) =>
      invalid("FILTER_INVALID", `${fields[0]}: is wrong`, {
        violations: fields.map((field) => ({ field, description: "is wrong" })),
      });
    harness.fakes.access.setRowFilter = () => {
      throw faulty("/filter/name", "/filter/values/3", "/table", "/filter/applies_to");
    };
    harness.fakes.access.setColumnMask = () => {
      throw faulty("/mask/column", "/mask/mask");
    };
    const filter = { applies_to: "*", column: "a", operator: "=", values: ["x"] };
    const filtered = await harness.call("PUT", `${ACCESS}/filters/f`, { body: filter });
    const masked = await harness.call("PUT", `${ACCESS}/masks/a`, { body: { mask: "last" } });
    const pointers = [filtered, masked].map(({ json }) =>
      json.errors.map(({ pointer }) => pointer),
    );
    expect(pointers).toEqual([
      ["#/filter", "#/values/3", "#/table", "#/applies_to"],
      ["#/column", "#/mask"],
    ]);
    expect(filtered.json).toMatchObject({ code: "FILTER_INVALID", detail: "/filter: is wrong" });
    expect(masked.json.detail).toBe("/column: is wrong");
  });

  test.each([
    ["=", [], "takes exactly one value"],
    ["<", ["1", "2"], "takes exactly one value"],
    ["in", [], "1 to 1000"],
    ["in", undefined, "1 to 1000"],
    ["is null", ["x"], "takes no values"],
  ])("T10 a filter with %s and the values %j is refused", async (operator, values, words) => {
    const body = { applies_to: "*", column: "a", operator, values };
    const { status, json } = await harness.call("PUT", `${ACCESS}/filters/f`, { body });
    expect(status).toBe(400);
    expect(json.errors).toEqual([{ pointer: "#/values", detail: expect.stringContaining(words) }]);
    expect(harness.calls).toHaveLength(0);
  });

  test("T10 a right that cannot be granted is refused in the path too", async () => {
    const { status, json } = await harness.call("DELETE", `${ACCESS}/grants/rita/own`);
    expect(status).toBe(400);
    expect(json.errors[0]?.pointer).toBe("#/right");
  });
});

describe("roles", () => {
  const grant = {
    subject: "rita@example.org",
    role: "writer",
    environment: "dev",
    grantedBy: "ana@example.org",
    grantedAt: at("2026-11-30T12:00:00Z"),
  };

  test("T6 are listed by environment and subject, page by page", async () => {
    harness.fakes.access.listRoles = ({ environment, subject, limit, cursor }) => {
      expect(environment?.ref).toMatchObject({ case: "name", value: "dev" });
      expect({ subject, limit, cursor }).toEqual({ subject: "rita", limit: 2, cursor: "c" });
      return { grants: [grant, { ...grant, environment: "" }], nextCursor: "d" };
    };
    const { json } = await harness.call(
      "GET",
      "/api/v1/roles?environment=dev&subject=rita&limit=2&cursor=c",
    );
    const shown = {
      subject: "rita@example.org",
      role: "writer",
      environment: "dev",
      granted_by: "ana@example.org",
      granted_at: "2026-11-30T12:00:00.000Z",
    };
    expect(json).toEqual({ items: [shown, { ...shown, environment: null }], next_cursor: "d" });
  });

  test("T6 of everywhere and everybody are listed where nothing narrows", async () => {
    harness.fakes.access.listRoles = ({ environment, subject }) => {
      expect({ environment, subject }).toEqual({ environment: undefined, subject: "" });
      return {};
    };
    expect((await harness.call("GET", "/api/v1/roles")).json).toEqual({
      items: [],
      next_cursor: null,
    });
  });

  test("T6 are given and taken away, in an environment or everywhere", async () => {
    const asked: unknown[] = [];
    harness.fakes.access.grantRole = ({ subject, role, environment }, { idempotencyKey }) => {
      asked.push([subject, role, environment?.ref.value, idempotencyKey]);
      return { grant };
    };
    harness.fakes.access.revokeRole = ({ subject, role, environment }, { idempotencyKey }) => {
      asked.push([subject, role, environment?.ref.value, idempotencyKey]);
      return {};
    };
    const body = { subject: "rita@example.org", role: "writer" };
    const here = { ...body, environment: "dev" };
    const given = await harness.call("POST", "/api/v1/roles", { body: here, ...KEY });
    expect({ status: given.status, role: given.json.role }).toEqual({
      status: 200,
      role: "writer",
    });
    await harness.call("POST", "/api/v1/roles", { body });
    const query = new URLSearchParams(here).toString();
    const taken = await harness.call("DELETE", `/api/v1/roles?${query}`, KEY);
    expect({ status: taken.status, text: taken.text }).toEqual({ status: 204, text: "" });
    await harness.call("DELETE", `/api/v1/roles?${new URLSearchParams(body)}`);
    expect(asked).toEqual([
      ["rita@example.org", "writer", "dev", "key-1"],
      ["rita@example.org", "writer", undefined, undefined],
      ["rita@example.org", "writer", "dev", "key-1"],
      ["rita@example.org", "writer", undefined, undefined],
    ]);
  });

  test("T10 one that is not named in full is not taken away", async () => {
    const { status, json } = await harness.call("DELETE", "/api/v1/roles?role=owner");
    expect(status).toBe(400);
    expect(json.errors.map(({ pointer }) => pointer)).toEqual(["#/subject", "#/role"]);
    expect(harness.calls).toHaveLength(0);
  });
});
