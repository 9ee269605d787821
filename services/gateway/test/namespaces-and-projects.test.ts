import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { conflict, precondition } from "@lapse/kit";
import { type Harness, startHarness } from "./harness.ts";
import { at } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness.stop());

const DEV = "/api/v1/environments/dev";
const KEY = { headers: { "idempotency-key": "key-1" } };
const BLOCKED = precondition("NAMESPACE_NOT_EMPTY", "bronze has 1 table: bronze.trial (dropped)", {
  violations: [{ field: "/tables/0", description: "bronze.trial is dropped" }],
});

describe("namespaces", () => {
  const namespace = {
    environment: "dev",
    path: "bronze.raw",
    createdBy: "ana@example.org",
    createdAt: at("2026-11-30T12:00:00Z"),
  };
  const SHOWN = {
    environment: "dev",
    path: "bronze.raw",
    created_by: "ana@example.org",
    created_at: "2026-11-30T12:00:00.000Z",
  };

  test("T31 are listed, page by page", async () => {
    harness.fakes.catalog.listNamespaces = ({ environment, limit, cursor }) => {
      expect(environment?.ref).toMatchObject({ case: "name", value: "dev" });
      expect({ limit, cursor }).toEqual({ limit: 3, cursor: "c" });
      return { namespaces: [namespace], nextCursor: "d" };
    };
    const { json } = await harness.call("GET", `${DEV}/namespaces?limit=3&cursor=c`);
    expect(json).toEqual({ items: [SHOWN], next_cursor: "d" });
  });

  test("T31 are created and deleted", async () => {
    const asked: unknown[] = [];
    harness.fakes.catalog.createNamespace = ({ path }, { idempotencyKey }) => {
      asked.push(["create", path, idempotencyKey]);
      return { namespace };
    };
    harness.fakes.catalog.deleteNamespace = ({ path }, { idempotencyKey }) => {
      asked.push(["delete", path, idempotencyKey]);
      return {};
    };
    const body = { path: "bronze.raw" };
    const created = await harness.call("POST", `${DEV}/namespaces`, { body, ...KEY });
    expect({ status: created.status, json: created.json }).toEqual({ status: 201, json: SHOWN });
    const deleted = await harness.call("DELETE", `${DEV}/namespaces/bronze.raw`, KEY);
    expect({ status: deleted.status, text: deleted.text }).toEqual({ status: 204, text: "" });
    expect(asked).toEqual([
      ["create", "bronze.raw", "key-1"],
      ["delete", "bronze.raw", "key-1"],
    ]);
  });

  test("T31 that hold tables are not deleted, and the answer names these", async () => {
    harness.fakes.catalog.deleteNamespace = () => {
      throw BLOCKED;
    };
    const { status, json } = await harness.call("DELETE", `${DEV}/namespaces/bronze`);
    expect({ status, code: json.code, errors: json.errors }).toEqual({
      status: 409,
      code: "NAMESPACE_NOT_EMPTY",
      errors: [{ pointer: "#/tables/0", detail: "bronze.trial is dropped" }],
    });
  });
});

describe("an environment", () => {
  test("T31 is deleted", async () => {
    harness.fakes.catalog.deleteEnvironment = ({ environment }, { idempotencyKey }) => {
      expect(environment?.ref).toMatchObject({ case: "name", value: "dev" });
      expect(idempotencyKey).toBe("key-1");
      return {};
    };
    const { status, text } = await harness.call("DELETE", DEV, KEY);
    expect({ status, text }).toEqual({ status: 204, text: "" });
  });

  test("T31 that holds tables is not deleted", async () => {
    harness.fakes.catalog.deleteEnvironment = () => {
      throw BLOCKED;
    };
    expect((await harness.call("DELETE", DEV)).status).toBe(409);
  });
});

describe("projects", () => {
  const project = {
    name: "shop",
    environment: "dev",
    version: "1.4.0",
    assets: ["gold.orders"],
    deployedBy: "key:ci",
    deployedAt: at("2026-11-30T12:00:00Z"),
  };
  const SHOWN = {
    name: "shop",
    environment: "dev",
    version: "1.4.0",
    assets: ["gold.orders"],
    deployed_by: "key:ci",
    deployed_at: "2026-11-30T12:00:00.000Z",
  };

  test("T20 are listed with what they build", async () => {
    harness.fakes.catalog.listProjects = ({ environment }) => {
      expect(environment?.ref).toMatchObject({ case: "name", value: "dev" });
      return { projects: [project] };
    };
    const { json } = await harness.call("GET", `${DEV}/projects`);
    expect(json).toEqual({ items: [SHOWN], next_cursor: null });
  });

  test("T20 are deployed with assets, or with those that the version had", async () => {
    const asked: unknown[] = [];
    harness.fakes.catalog.deployProject = (request, { idempotencyKey }) => {
      asked.push([request.project, request.version, request.assets, idempotencyKey]);
      return { project };
    };
    const first = { version: "1.4.0", assets: ["gold.orders", "gold.by.day"] };
    const deployed = await harness.call("PUT", `${DEV}/projects/shop`, { body: first, ...KEY });
    expect({ status: deployed.status, json: deployed.json }).toEqual({ status: 200, json: SHOWN });
    await harness.call("PUT", `${DEV}/projects/sh%2Fop`, { body: { version: "1.3.9" } });
    expect(asked).toEqual([
      ["shop", "1.4.0", ["gold.orders", "gold.by.day"], "key-1"],
      ["sh/op", "1.3.9", [], undefined],
    ]);
  });

  test("T20 take ten thousand assets in a call, and no more", async () => {
    harness.fakes.catalog.deployProject = ({ assets }) => ({ project: { ...project, assets } });
    const assets = Array.from({ length: 10_000 }, (_, n) => `gold.${"x".repeat(100)}_${n}`);
    const most = await harness.call("PUT", `${DEV}/projects/shop`, {
      body: { version: "1", assets },
    });
    expect(most.status).toBe(200);
    const none = await harness.call("PUT", `${DEV}/projects/shop`, {
      body: { version: "1", assets: [] },
    });
    expect(none.json.errors).toEqual([
      { pointer: "#/assets", detail: "name the tables that it builds, or leave assets out" },
    ]);
    const more = await harness.call("PUT", `${DEV}/projects/shop`, {
      body: { version: "1", assets: [...assets, "gold.one"] },
    });
    expect({ status: more.status, pointer: more.json.errors[0]?.pointer }).toEqual({
      status: 400,
      pointer: "#/assets",
    });
  });

  test("T20 keep the assets of a version: another set is a conflict", async () => {
    harness.fakes.catalog.deployProject = () => {
      throw conflict("VERSION_TAKEN", "1.4.0 was deployed with other assets; give a new version");
    };
    const { status, json } = await harness.call("PUT", `${DEV}/projects/shop`, {
      body: { version: "1.4.0", assets: ["gold.other"] },
    });
    expect({ status, code: json.code }).toEqual({ status: 409, code: "VERSION_TAKEN" });
  });

  test("T20 are taken out again", async () => {
    harness.fakes.catalog.undeployProject = ({ project: name }) => {
      expect(name).toBe("shop");
      return {};
    };
    expect((await harness.call("DELETE", `${DEV}/projects/shop`)).status).toBe(204);
  });
});
