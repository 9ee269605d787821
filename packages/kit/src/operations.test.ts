import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createMetrics } from "./metrics.ts";
import { type OperationsServer, startOperationsServer } from "./operations.ts";
import { type Readiness, readiness } from "./readiness.ts";

let server: OperationsServer;
afterEach(() => server?.stop());

async function start(ready: () => Promise<Readiness> = async () => ({ ok: true, checks: {} })) {
  const metrics = createMetrics("test");
  server = await startOperationsServer({ host: "127.0.0.1", port: 0, metrics, ready });
  return { metrics, url: `http://127.0.0.1:${server.port}` };
}

describe("the operations server", () => {
  test("answers /healthz while it lives, whether the service is ready or not", async () => {
    const { url } = await start(async () => ({ ok: false, checks: {} }));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test("answers /readyz with each check, 200 only when all are ok", async () => {
    let database = true;
    const { url } = await start(
      readiness({
        database: async () => {
          if (!database) throw new Error("the connection is refused");
        },
        nats: async () => undefined,
      }),
    );
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(200);
    expect(ready.headers.get("content-type")).toBe("application/json");
    expect(await ready.json()).toEqual({
      ok: true,
      checks: { database: { ok: true }, nats: { ok: true } },
    });
    database = false;
    const unready = await fetch(`${url}/readyz`);
    expect(unready.status).toBe(503);
    expect(await unready.json()).toEqual({
      ok: false,
      checks: {
        database: { ok: false, message: "the connection is refused" },
        nats: { ok: true },
      },
    });
  });

  test("answers /readyz with 503 when the checks themselves cannot be run", async () => {
    const { url } = await start(async () => {
      throw new Error("broken");
    });
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
  });

  test("answers /metrics in the format of Prometheus", async () => {
    const { url, metrics } = await start();
    metrics.counter("lapse_x_total", "x").inc();
    const response = await fetch(`${url}/metrics?name=x`);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await response.text()).toContain('lapse_x_total{service="test"} 1');
  });

  test.each(["/", "/admin", "/healthz/", "/__proto__", "//", "/%zz"])(
    "answers %s with 404",
    async (path) => {
      const { url } = await start();
      expect((await fetch(url + path)).status).toBe(404);
    },
  );

  test("answers other methods with 405", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/metrics`, { method: "POST" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
    expect((await fetch(`${url}/healthz`, { method: "HEAD" })).status).toBe(200);
  });

  test("stops although somebody is in the middle of a request", async () => {
    const { url } = await start();
    const socket = connect(server.port, "127.0.0.1");
    // Answered once, the socket is known to the server; the second request stays half sent.
    socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /hea");
    await once(socket, "data");
    await server.stop();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    socket.destroy();
  });

  test("a port that is taken is an error of the start", async () => {
    await start();
    const again = { host: "127.0.0.1", port: server.port, metrics: createMetrics("b") };
    const ready = async () => ({ ok: true, checks: {} });
    await expect(startOperationsServer({ ...again, ready })).rejects.toThrow(/EADDRINUSE/);
  });
});

describe("readiness", () => {
  test("a check that does not answer in time is not ok, and holds up none of the others", async () => {
    const state = await readiness(
      { database: () => new Promise(() => {}), nats: async () => true },
      { timeoutMs: 20 },
    )();
    expect(state).toEqual({
      ok: false,
      checks: {
        database: { ok: false, message: "no answer within 20 ms" },
        nats: { ok: true },
      },
    });
  });

  test("a check that throws before it awaits is not ok", async () => {
    const { checks } = await readiness({
      database: () => {
        throw new Error("at once");
      },
    })();
    expect(checks).toEqual({ database: { ok: false, message: "at once" } });
  });
});
