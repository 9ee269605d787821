import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Harness, startHarness } from "./harness.ts";

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Record<string, { readonly schema: object }>;
  };
  readonly responses: Record<
    string,
    { readonly description?: string; readonly content?: Record<string, { schema: object }> }
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly schemas: Record<string, object>;
    readonly securitySchemes: Record<string, object>;
  };
  readonly security: readonly Record<string, readonly string[]>[];
}

let harness: Harness;
let document: Document;
beforeAll(async () => {
  harness = await startHarness();
  const answer = await harness.call("GET", "/openapi.json", { token: null });
  expect(answer.status).toBe(200);
  document = JSON.parse(answer.text);
});
afterAll(() => harness.stop());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

const ROUTES = [
  "GET /environments",
  "POST /environments",
  "GET /environments/{env}",
  "PATCH /environments/{env}",
  "DELETE /environments/{env}",
  "GET /environments/{env}/namespaces",
  "POST /environments/{env}/namespaces",
  "DELETE /environments/{env}/namespaces/{namespace}",
  "GET /environments/{env}/projects",
  "PUT /environments/{env}/projects/{project}",
  "DELETE /environments/{env}/projects/{project}",
  "GET /environments/{env}/retention",
  "PUT /environments/{env}/retention",
  "GET /environments/{env}/expiring-tables",
  "GET /environments/{env}/tables",
  "GET /environments/{env}/dropped-tables",
  "POST /environments/{env}/dropped-tables/{id}/undrop",
  "GET /environments/{env}/namespaces/{namespace}/tables",
  "POST /environments/{env}/namespaces/{namespace}/tables",
  "POST /environments/{env}/namespaces/{namespace}/tables/{name}/undrop",
  ...["/environments/{env}/namespaces/{namespace}/tables/{name}", "/tables/{id}"].flatMap((at) => [
    `GET ${at}`,
    `PATCH ${at}`,
    `DELETE ${at}`,
    `GET ${at}/retention`,
    `PUT ${at}/retention`,
    `GET ${at}/files`,
    `GET ${at}/reads`,
    `POST ${at}/commits`,
    `POST ${at}/holds`,
    `GET ${at}/holds`,
    `GET ${at}/access`,
    `POST ${at}/access/grants`,
    `DELETE ${at}/access/grants/{subject}/{right}`,
    `PUT ${at}/access/filters/{filter}`,
    `DELETE ${at}/access/filters/{filter}`,
    `PUT ${at}/access/masks/{column}`,
    `DELETE ${at}/access/masks/{column}`,
  ]),
  "PUT /holds/{id}",
  "DELETE /holds/{id}",
  "GET /roles",
  "POST /roles",
  "DELETE /roles",
  "GET /api-keys",
  "POST /api-keys",
  "DELETE /api-keys/{id}",
  "POST /activity",
  "POST /sweeps",
  "GET /sweeps",
  "GET /sweeps/{id}",
  "GET /sweeps/holds",
  "POST /sweeps/confirm",
  "POST /sweeps/pause",
  "POST /sweeps/resume",
  "GET /audit",
  "GET /audit/verify",
  "GET /audit/stream",
  "GET /status",
  "GET /parked",
  "POST /parked/{id}/retry",
  "DELETE /parked/{id}",
];

/** Of a contract that is not ours: its path, and how it tells failures. */
const ICEBERG = "/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics";

describe("the OpenAPI document", () => {
  test("holds every route and no other", () => {
    const found = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    const expected = [...ROUTES.map((route) => route.replace(" ", " /api/v1")), `POST ${ICEBERG}`];
    expect(found.sort()).toEqual(expected.sort());
  });

  test("is one of OpenAPI 3.1, with a bearer token as the security of all", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.title).toBe("Lapse");
    expect(document.components.securitySchemes.bearer).toMatchObject({
      type: "http",
      scheme: "bearer",
    });
    expect(document.security).toEqual([{ bearer: [] }]);
  });

  test("gives every operation an id of its own, a summary and a known tag", () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of operations()) {
      expect(operation.operationId).toMatch(/^[a-z][a-zA-Z]+$/);
      expect(operation.summary).toBeTruthy();
      expect(operation.tags).toHaveLength(1);
      expect(tags).toContain(operation.tags?.[0]);
    }
  });

  test("declares exactly the parameters that a path has", () => {
    for (const { path, operation } of operations()) {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((each) => each.in === "path");
      expect(declared.map(({ name }) => name).sort()).toEqual(inPath.sort());
    }
  });

  test("describes every answer, and every failure as a problem", () => {
    for (const { path, operation } of operations()) {
      const [type, name] =
        path === ICEBERG
          ? ["application/json", "IcebergError"]
          : ["application/problem+json", "Problem"];
      const statuses = Object.keys(operation.responses);
      expect(statuses).toEqual(expect.arrayContaining(["400", "401", "403", "500", "503"]));
      expect(statuses.some((status) => status.startsWith("2"))).toBe(true);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response.description).toBeTruthy();
        if (status.startsWith("2")) continue;
        expect(response.content?.[type]?.schema).toEqual({ $ref: `#/components/schemas/${name}` });
      }
    }
  });

  test("shows an example of every body that is taken", () => {
    for (const { path, operation } of operations()) {
      const body = operation.requestBody?.content["application/json"];
      if (!body || "examples" in body) continue;
      const { schema } = body;
      const name =
        String("$ref" in schema ? schema.$ref : "")
          .split("/")
          .at(-1) ?? "";
      const shown = document.components.schemas[name] ?? schema;
      expect({ path, examples: "examples" in shown && shown.examples }).toEqual({
        path,
        examples: expect.arrayContaining([expect.anything()]),
      });
    }
  });

  test("has no reference that leads nowhere, and no schema that nothing refers to", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, reference]) => reference,
    );
    const defined = Object.keys(document.components.schemas).map(
      (name) => `#/components/schemas/${name}`,
    );
    expect([...new Set(references)].sort()).toEqual(defined.sort());
  });

  test("lets the body be left out where nothing in it is needed", () => {
    expect(document.paths["/api/v1/sweeps"]?.post?.requestBody?.required).toBe(false);
    expect(document.paths["/api/v1/environments"]?.post?.requestBody?.required).toBe(true);
    expect(document.paths["/api/v1/sweeps/resume"]?.post?.requestBody).toBeUndefined();
  });

  test("offers the idempotency key on writes and on nothing else", () => {
    for (const { method, operation } of operations()) {
      const headers = (operation.parameters ?? []).filter((each) => each.in === "header");
      const offered = headers.some(({ name }) => name === "idempotency-key");
      expect(offered).toBe(method !== "get");
    }
  });
});

test("/docs shows the document from this server alone, and / leads there", async () => {
  const home = await harness.call("GET", "/", { token: null });
  expect(home.status).toBe(302);
  expect(home.headers.location).toBe("/docs");
  const docs = await harness.call("GET", "/docs/", { token: null });
  expect(docs.status).toBe(200);
  expect(docs.headers["content-type"]).toContain("text/html");
  expect(docs.headers["content-security-policy"]).toContain("script-src 'self'");
  expect(docs.text).not.toMatch(/(src|href)="https?:/);
});
