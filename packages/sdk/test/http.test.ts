import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createClient, LapseApiError, LapseUnreachableError } from "@lapse/sdk";
import { hangUp, json, problem, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.close());

const client = (over: object = {}) => createClient({ url: server.url, token: "secret", ...over });
const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
const keys = () => server.received.map(({ headers }) => headers["idempotency-key"]);

describe("a call", () => {
  test("carries the token, the body as JSON and an idempotency key", async () => {
    server.answer(json({ name: "dev" }, 201));
    expect(await client().environments.create("dev", { protected: true })).toEqual({ name: "dev" });
    const [request] = server.received;
    expect(request).toMatchObject({
      method: "POST",
      url: "/api/v1/environments",
      body: '{"name":"dev","protected":true}',
    });
    expect(request?.headers).toMatchObject({
      authorization: "Bearer secret",
      "content-type": "application/json",
      "idempotency-key": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test("that reads carries neither body nor key, and leaves out what is not asked", async () => {
    server.answer(json({ items: [], next_cursor: null }));
    await client().tables.expiring("dev", { withinDays: 7 }).page();
    expect(server.received[0]?.url).toBe("/api/v1/environments/dev/expiring-tables?within_days=7");
    expect(server.received[0]?.headers["content-type"]).toBeUndefined();
    expect(keys()).toEqual([undefined]);
  });

  test("takes names as data", async () => {
    server.answer(json({}));
    await client().tables.get("de/v", "bronze.raw.tri al?");
    expect(server.received[0]?.url).toBe(
      "/api/v1/environments/de%2Fv/namespaces/bronze.raw/tables/tri%20al%3F",
    );
  });

  test("with nothing to say gives nothing", async () => {
    server.answer((response) => response.writeHead(204).end());
    expect(await client().tables.holds.release("h")).toBeUndefined();
  });

  test("works behind a path", async () => {
    server.answer(json({}));
    await createClient({ url: `${server.url}/lapse/`, token: "t" }).status();
    expect(server.received[0]?.url).toBe("/lapse/api/v1/status");
  });
});

describe("a call that fails in passing", () => {
  test.each([429, 502, 503, 504])("with %i is repeated with the same key", async (status) => {
    server.answer(problem(status), problem(status), json({ name: "dev" }));
    expect(await client().environments.create("dev")).toEqual({ name: "dev" });
    expect(server.received).toHaveLength(3);
    expect(new Set(keys()).size).toBe(1);
    expect(new Set(server.received.map(({ body }) => body)).size).toBe(1);
  });

  test("because the connection breaks is repeated with the same key", async () => {
    server.answer(hangUp, json({ name: "dev" }));
    expect(await client().environments.create("dev")).toEqual({ name: "dev" });
    expect(new Set(keys()).size).toBe(1);
  });

  test("because no answer comes in time is repeated", async () => {
    server.answer(() => undefined, json({ ok: true }));
    expect(await client({ timeoutMs: 200 }).status()).toEqual({ ok: true });
    expect(server.received).toHaveLength(2);
  });

  test("is given up after the last attempt, with what was answered", async () => {
    server.answer(problem(503, { code: "SERVICE_UNAVAILABLE" }));
    const error = await thrownBy(client({ attempts: 3 }).status());
    expect(error).toBeInstanceOf(LapseApiError);
    expect(error).toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE", retryable: true });
    expect(server.received).toHaveLength(3);
  });

  test("two calls have two keys", async () => {
    server.answer(json({}));
    await client().environments.create("a");
    await client().environments.create("b");
    expect(new Set(keys()).size).toBe(2);
  });
});

describe("a call that is refused", () => {
  test.each([400, 401, 403, 404, 409, 413, 500])("with %i is not repeated", async (status) => {
    server.answer(problem(status));
    expect(await thrownBy(client().status())).toMatchObject({ status, retryable: false });
    expect(server.received).toHaveLength(1);
  });

  test("tells code, sentence, errors, details and trace", async () => {
    server.answer(
      problem(400, {
        code: "REQUEST_INVALID",
        detail: "the request is not valid",
        errors: [{ pointer: "#/days", detail: "days takes a whole number" }],
        details: { hold_id: "h" },
        trace_id: "4bf9",
      }),
    );
    const error = await thrownBy(client().tables.setRetention("dev", "bronze.trial", { days: 0 }));
    expect(error).toBeInstanceOf(LapseApiError);
    expect(error).toMatchObject({
      message: "the request is not valid",
      status: 400,
      code: "REQUEST_INVALID",
      errors: [{ pointer: "#/days", detail: "days takes a whole number" }],
      details: { hold_id: "h" },
      traceId: "4bf9",
    });
  });

  test("is told apart: refused, not found", async () => {
    server.answer(problem(403), problem(401), problem(404));
    expect(await thrownBy(client().status())).toMatchObject({ refused: true, notFound: false });
    expect(await thrownBy(client().status())).toMatchObject({ refused: true });
    expect(await thrownBy(client().status())).toMatchObject({ refused: false, notFound: true });
  });

  test("by something that is not Lapse is told by its status", async () => {
    server.answer((response) => response.writeHead(404).end("<html>not here</html>"));
    expect(await thrownBy(client().status())).toMatchObject({
      status: 404,
      code: "HTTP_404",
      message: "The server answered 404 without saying why.",
      errors: [],
    });
  });
});

describe("a server that is not there", () => {
  test("is told with its address and the cause, once every attempt has failed", async () => {
    await server.close();
    const error = await thrownBy(client({ attempts: 2 }).status());
    expect(error).toBeInstanceOf(LapseUnreachableError);
    expect(String(error)).toContain(`No answer from Lapse at ${server.url}`);
    expect(String(error)).toMatch(/ECONNREFUSED/);
    server = await startTestServer();
  });
});
