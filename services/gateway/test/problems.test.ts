import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createConnection } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  conflict,
  createAuthenticator,
  exhausted,
  type LapseError,
  unauthenticated,
} from "@lapse/kit";
import { type Harness, listening, startHarness } from "./harness.ts";
import { anExpiry, aTable, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness.stop());

const TABLE = `/api/v1/tables/${TABLE_ID}`;

const isProblem = (answer: { headers: Record<string, unknown>; json: unknown; status: number }) => {
  expect(answer.headers["content-type"]).toMatch(/^application\/problem\+json/);
  expect(answer.json).toMatchObject({
    type: expect.stringMatching(/^urn:lapse:error:[A-Z_]+$/),
    title: expect.any(String),
    status: answer.status,
    detail: expect.any(String),
    code: expect.stringMatching(/^[A-Z_]+$/),
  });
};

describe("who asks", () => {
  test.each([
    [null, {}, "TOKEN_MISSING"],
    [null, { authorization: "Basic YTpi" }, "TOKEN_MISSING"],
    [null, { authorization: "Bearer" }, "TOKEN_MISSING"],
    ["mallory", {}, "TOKEN_INVALID"],
  ])("is needed: token %s with %j answers 401", async (token, headers, code) => {
    const answer = await harness.call("GET", TABLE, { token, headers });
    expect(answer.status).toBe(401);
    isProblem(answer);
    expect(answer.json.code).toBe(code);
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer realm="lapse"/);
    expect(harness.calls).toHaveLength(0);
  });

  test("is asked before anything else of the request is judged", async () => {
    const bad = { token: null, body: "{", headers: {} };
    expect((await harness.call("POST", "/api/v1/environments", bad)).status).toBe(401);
  });

  test("is forwarded, and the gateway calls in its own name", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable() });
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
    await harness.call("GET", TABLE, { token: "rita" });
    for (const { principal, caller } of harness.calls) {
      expect(principal).toMatchObject({
        subject: "rita@example.org",
        tenant: "local",
        roles: ["reader"],
      });
      expect(caller).toMatchObject({ subject: "gateway", kind: "service" });
    }
  });

  test("a peer that refuses the gateway's own credential is our fault, not the caller's", async () => {
    harness.fakes.catalog.getTable = () => {
      throw unauthenticated("TOKEN_EXPIRED", "the token of the gateway has expired");
    };
    const answer = await harness.call("GET", TABLE);
    expect(answer.status).toBe(500);
    expect(answer.json.detail).not.toContain("gateway");
  });
});

describe("what is not there", () => {
  test("a path that no route has answers 404, with or without a token", async () => {
    for (const path of ["/nothing", "/api/v1/nothing", "/api/v2/environments"]) {
      const answer = await harness.call("GET", path, { token: null });
      expect({ status: answer.status, code: answer.json.code }).toEqual({
        status: 404,
        code: "ROUTE_NOT_FOUND",
      });
      isProblem(answer);
    }
  });

  test("a method that a path does not take answers 405 with those it takes", async () => {
    const answer = await harness.call("DELETE", "/api/v1/sweeps", { token: null });
    expect(answer.status).toBe(405);
    isProblem(answer);
    expect(answer.json.code).toBe("METHOD_NOT_ALLOWED");
    expect(answer.headers.allow).toBe("POST, GET, HEAD");
    const withBody = await harness.call("PATCH", "/api/v1/activity", { body: "{" });
    expect(withBody.status).toBe(405);
  });

  test("there is no CORS", async () => {
    const answer = await harness.call("OPTIONS", "/api/v1/environments", {
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("a body", () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    harness.call("POST", "/api/v1/environments", { body, headers });

  test.each([
    ["{", "JSON_INVALID"],
    ['{"name":"a"} x', "JSON_INVALID"],
    ['{"name":"a","__proto__":{"protected":true}}', "JSON_INVALID"],
    ['{"name":"a","constructor":{"prototype":{}}}', "JSON_INVALID"],
    ["[".repeat(100_000), "JSON_INVALID"],
    ["null", "REQUEST_INVALID"],
    ['"text"', "REQUEST_INVALID"],
    ["", "REQUEST_INVALID"],
  ])("that starts with %.40j answers 400 %s", async (body, code) => {
    const answer = await post(body);
    expect({ status: answer.status, code: answer.json.code }).toEqual({ status: 400, code });
    isProblem(answer);
  });

  test.each(["text/plain", "application/xml", "multipart/form-data", "nonsense"])(
    "of type %s answers 415",
    async (type) => {
      const answer = await post('{"name":"a"}', { "content-type": type });
      expect({ status: answer.status, code: answer.json.code }).toEqual({
        status: 415,
        code: "MEDIA_TYPE_UNSUPPORTED",
      });
      isProblem(answer);
    },
  );

  test("of more than 1 MiB answers 413; on the activity route of more than 8 MiB", async () => {
    const padded = (bytes: number) => `{"name":"${"a".repeat(bytes)}"}`;
    const answer = await post(padded(1024 * 1024));
    expect({ status: answer.status, code: answer.json.code }).toEqual({
      status: 413,
      code: "BODY_TOO_LARGE",
    });
    isProblem(answer);
    const activity = (bytes: number) =>
      harness.call("POST", "/api/v1/activity", { body: padded(bytes) });
    expect((await activity(2 * 1024 * 1024)).status).toBe(400);
    expect((await activity(8 * 1024 * 1024)).status).toBe(413);
  });
});

describe("a path or a header", () => {
  test.each([["/api/v1/environments/%E0%A4%A"], ["/api/v1/environments/%"]])(
    "that is badly encoded (%s) answers 400",
    async (path) => {
      const answer = await harness.call("GET", path);
      expect(answer.status).toBe(400);
      isProblem(answer);
    },
  );

  test("that is far too long answers 414", async () => {
    const answer = await harness.call("GET", `/api/v1/environments/${"x".repeat(5_000)}`);
    expect(answer.status).toBe(414);
    isProblem(answer);
  });

  test("an idempotency key that is none is refused, pointing at the header", async () => {
    const answer = await harness.call("POST", "/api/v1/environments", {
      body: { name: "dev" },
      headers: { "idempotency-key": "has space" },
    });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      { pointer: "#/idempotency-key", detail: expect.stringContaining("visible ASCII") },
    ]);
  });
});

describe("what a service says", () => {
  const failing = (error: LapseError) => {
    harness.fakes.catalog.getTable = () => {
      throw error;
    };
  };

  test("is passed on with its code, details and pointers", async () => {
    failing(
      conflict("TABLE_CHANGED", "read it again", {
        details: { change_version: "8" },
        violations: [{ field: "/expected_version", description: "is 7" }],
      }),
    );
    const answer = await harness.call("GET", TABLE);
    expect(answer.status).toBe(409);
    expect(answer.json).toMatchObject({
      code: "TABLE_CHANGED",
      detail: "read it again",
      details: { change_version: "8" },
      errors: [{ pointer: "#/expected_version", detail: "is 7" }],
    });
    isProblem(answer);
  });

  test("a limit that is reached asks to come again later", async () => {
    failing(exhausted("TOO_MANY_HOLDS", "release some"));
    const answer = await harness.call("GET", TABLE);
    expect({ status: answer.status, retry: answer.headers["retry-after"] }).toEqual({
      status: 429,
      retry: "1",
    });
  });

  test("a fault inside it shows a reference and nothing more", async () => {
    harness.fakes.catalog.getTable = () => {
      throw new Error("password=hunter2 at /srv/lapse");
    };
    const answer = await harness.call("GET", TABLE);
    expect(answer.status).toBe(500);
    expect(answer.text).toContain("reference");
    expect(answer.text).not.toMatch(/hunter2|srv/);
  });

  test("an answer that breaks the contract is a fault, told by reference and logged with its cause", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable({ createdAt: undefined }) });
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
    const answer = await harness.call("GET", TABLE);
    expect(answer.status).toBe(500);
    expect(JSON.stringify(harness.logged)).toContain("table.created_at is missing");
    harness.fakes.catalog.getTable = () => ({ table: aTable({ owner: "o", columns: [{}] }) });
    expect((await harness.call("GET", TABLE)).status).toBe(200);
  });
});

describe("a service that is away", () => {
  let other: Harness;
  beforeEach(async () => {
    other = await startHarness();
    await other.servers.catalog.stop();
  });
  afterEach(() => other.stop());

  test("answers 503 by its name, without its address", async () => {
    const answer = await other.call("GET", TABLE);
    expect(answer.status).toBe(503);
    isProblem(answer);
    expect(answer.json).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      detail: expect.stringMatching(/^catalog does not answer/),
      details: { service: "catalog" },
    });
    expect(answer.text).not.toMatch(/127\.0\.0\.1|http/);
  }, 20_000);
});

describe("every answer", () => {
  test("carries the caller's request id and trace, which the services get too", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable() });
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
    const headers = { traceparent, "x-request-id": "req-42" };
    const answer = await harness.call("GET", TABLE, { headers });
    expect(answer.headers["x-request-id"]).toBe("req-42");
    expect(harness.calls.map((call) => call.traceparent)).toEqual([traceparent, traceparent]);
    const line = harness.logged.find(({ msg }) => msg === "request");
    expect(line).toMatchObject({
      request_id: "req-42",
      trace_id: trace,
      subject: "ana@example.org",
      tenant: "local",
      method: "GET",
      route: "/api/v1/tables/:id",
      status: 200,
    });
    const missing = await harness.call("GET", "/nothing", { headers });
    expect(missing.json.trace_id).toBe(trace);
  });

  test("gets an id and a trace where the caller's cannot be used", async () => {
    const headers = { traceparent: "00-zz", "x-request-id": "a b\tc" };
    const answer = await harness.call("GET", "/nothing", { headers });
    expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.json.trace_id).toMatch(/^[0-9a-f]{32}$/);
  });

  test("is neither cached, sniffed nor framed", async () => {
    const { headers } = await harness.call("GET", "/nothing");
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    });
  });

  test("is logged without token, query or body", async () => {
    harness.fakes.catalog.createEnvironment = () => {
      throw conflict("NAME_TAKEN", "taken");
    };
    await harness.call("POST", "/api/v1/environments?x=query-secret", {
      body: { name: "body-secret" },
    });
    await harness.call("POST", "/api/v1/environments", { body: { name: "body-secret" } });
    const text = JSON.stringify(harness.logged);
    expect(text).not.toMatch(/Bearer|query-secret|body-secret/);
  });

  test("is measured under its route, whatever the path", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable() });
    harness.fakes.evaluator.batchGetTableExpiry = () => ({});
    await harness.call("GET", TABLE);
    await harness.call("GET", "/scan/a");
    await harness.call("GET", "/scan/b");
    const text = await harness.metrics.registry.getSingleMetricAsString("lapse_http_seconds");
    expect(text).toContain('route="/api/v1/tables/:id",status="200"');
    expect(text).toContain('route="unmatched",status="404"');
    expect(text).not.toContain("/scan/");
  });
});

describe("on the wire", () => {
  let port: number;
  let own: Harness;
  beforeAll(async () => {
    own = await startHarness();
    port = Number(new URL(await listening(own)).port);
  });
  afterAll(() => own.stop());

  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      let received = "";
      const socket = createConnection({ port, host: "127.0.0.1" }, () => socket.write(text));
      socket.setEncoding("utf8");
      socket.on("data", (chunk: string) => {
        received += chunk;
      });
      socket.on("close", () => resolve(received));
      socket.on("error", reject);
    });

  test("what is no HTTP answers 400 as a problem and closes", async () => {
    const answer = await raw("HELLO\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain("application/problem+json");
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({
      code: "REQUEST_MALFORMED",
    });
  });

  test("headers without end answer 431", async () => {
    const answer = await raw(`GET / HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe("tokens, verified by the kit", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = (
    claims: object,
    key: KeyObject = privateKey,
    header: object = { alg: "EdDSA" },
  ) => {
    const text = `${part(header)}.${part({ sub: "ana", tenant: "local", roles: [], ...claims })}`;
    return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`;
  };
  const inOneHour = Math.floor(Date.now() / 1_000) + 3_600;

  let own: Harness;
  beforeAll(async () => {
    own = await startHarness({
      authenticate: createAuthenticator({
        publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
        issuer: "lapse-test",
      }),
    });
    own.fakes.catalog.listEnvironments = () => ({});
  });
  afterAll(() => own.stop());

  const status = async (text: string) =>
    (await own.call("GET", "/api/v1/environments", { token: text })).status;

  test("a good one lets in", async () => {
    expect(await status(token({ iss: "lapse-test", exp: inOneHour }))).toBe(200);
  });

  test.each([
    ["expired", token({ iss: "lapse-test", exp: 1 })],
    ["of another issuer", token({ iss: "other", exp: inOneHour })],
    [
      "signed by another key",
      token({ iss: "lapse-test" }, generateKeyPairSync("ed25519").privateKey),
    ],
    [
      "without algorithm",
      `${token({ iss: "lapse-test" }, privateKey, { alg: "none" }).replace(/\.[^.]*$/, ".")}`,
    ],
    ["without tenant", token({ iss: "lapse-test", tenant: "" })],
    ["that is no token", "abc"],
  ])("one %s does not", async (_what, text) => {
    expect(await status(text)).toBe(401);
  });
});
