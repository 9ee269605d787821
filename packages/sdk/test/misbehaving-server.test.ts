import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createClient, LapseApiError, LapseUnreachableError } from "@lapse/sdk";
import { hangUp, json, type Respond, startTestServer, type TestServer } from "./test-server.ts";

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
const keys = () => new Set(server.received.map(({ headers }) => headers["idempotency-key"]));

const busy =
  (retryAfter: string, status = 503): Respond =>
  (response) =>
    response
      .writeHead(status, { "retry-after": retryAfter, "content-type": "application/problem+json" })
      .end(JSON.stringify({ status, code: "SERVICE_UNAVAILABLE", detail: "Try again." }));

/** Says that more is to come than comes. */
const cutShort: Respond = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
  response.write('{"name":', () => response.destroy());
};

const html =
  (status: number): Respond =>
  (response) =>
    response.writeHead(status, { "content-type": "text/html" }).end("<html>Log in</html>");

describe("Retry-After", () => {
  test("is waited for before the call is made again", async () => {
    const began = performance.now();
    server.answer(busy("1"), json({ name: "dev" }, 201));
    expect(await client().environments.create("dev")).toMatchObject({ name: "dev" });
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    expect(keys().size).toBe(1);
  });

  test("longer than the client waits ends the call with the refusal, which says how long", async () => {
    server.answer(busy("3600", 429));
    expect(await thrownBy(client().status())).toMatchObject({
      status: 429,
      retryable: true,
      retryAfterMs: 3_600_000,
    });
    expect(server.received).toHaveLength(1);
  });

  test("of a refusal that does not pass changes nothing", async () => {
    server.answer(busy("0", 409));
    expect(await thrownBy(client().status())).toMatchObject({ status: 409, retryable: false });
    expect(server.received).toHaveLength(1);
  });
});

describe("an answer that breaks off", () => {
  test("in its body is asked for again, by the same key", async () => {
    server.answer(cutShort, json({ name: "dev" }, 201));
    expect(await client().environments.create("dev")).toMatchObject({ name: "dev" });
    expect(server.received).toHaveLength(2);
    expect(keys().size).toBe(1);
  });

  test("every time is an unreachable server", async () => {
    server.answer(cutShort, hangUp, cutShort);
    const error = await thrownBy(client({ attempts: 3 }).status());
    expect(error).toBeInstanceOf(LapseUnreachableError);
    expect(server.received).toHaveLength(3);
  });

  test("by coming too slowly is given up in time", async () => {
    const drip: Respond = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 20);
      response.once("close", () => clearInterval(timer));
    };
    server.answer(drip, json({ services: [] }));
    const status = await client({ timeoutMs: 200 }).status();
    expect(status).toEqual({ services: [] });
    expect(server.received).toHaveLength(2);
  });
});

describe("something that is not Lapse", () => {
  test("and answers 503 in HTML is tried again, and told by its status", async () => {
    server.answer(html(503));
    expect(await thrownBy(client({ attempts: 2 }).status())).toMatchObject({
      status: 503,
      code: "HTTP_503",
      retryable: true,
    });
    expect(server.received).toHaveLength(2);
  });

  test("and answers 200 in HTML is told, and not tried again", async () => {
    server.answer(html(200));
    const error = await thrownBy(client().status());
    expect(error).toBeInstanceOf(LapseApiError);
    expect(error).toMatchObject({ code: "ANSWER_UNREADABLE", status: 200, retryable: false });
    expect(String(error)).toMatch(/text\/html.*gateway/s);
    expect(server.received).toHaveLength(1);
  });

  test("and points elsewhere is told, and not followed: the token is for this address only", async () => {
    server.answer((response) => response.writeHead(302, { location: "/login" }).end());
    expect(await thrownBy(client().status())).toMatchObject({
      code: "HTTP_302",
      message: expect.stringMatching(/\/login/),
    });
    expect(server.received).toHaveLength(1);
  });

  test("and answers a problem of another shape is still an error with a code and a sentence", async () => {
    server.answer(json({ code: 7, detail: ["x"], errors: ["y", { pointer: 1 }], details: 3 }, 400));
    expect(await thrownBy(client().status())).toMatchObject({
      code: "HTTP_400",
      message: "The server answered 400 without saying why.",
      errors: [],
      details: {},
    });
  });
});

describe("a signal", () => {
  const aborted = (after: number) => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("enough")), after);
    return stop.signal;
  };

  test("ends a call that is under way, with its reason", async () => {
    server.answer(() => undefined);
    await expect(client().status({ signal: aborted(50) })).rejects.toThrow("enough");
    expect(server.received).toHaveLength(1);
  });

  test("ends a call that waits to be made again", async () => {
    server.answer(busy("20"));
    const began = performance.now();
    await expect(client().status({ signal: aborted(50) })).rejects.toThrow("enough");
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(server.received).toHaveLength(1);
  });

  test("that is aborted already sends nothing", async () => {
    const signal = AbortSignal.abort(new Error("never"));
    await expect(client().environments.create("dev", {}, { signal })).rejects.toThrow("never");
    expect(server.received).toHaveLength(0);
  });
});

test("a key of the caller's own is what a write is sent under", async () => {
  server.answer(busy("0"), json({}));
  await client().environments.create("dev", {}, { idempotencyKey: "load-4711" });
  expect([...keys()]).toEqual(["load-4711"]);
});
