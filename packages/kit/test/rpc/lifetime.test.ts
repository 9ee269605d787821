import { Client, credentials } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createGrpcClient, forwardFrom } from "@lapse/kit";
import { OutboxService } from "@lapse/proto/common";
import { freePort, waitFor } from "@lapse/test-kit";
import {
  noting,
  type OutboxHandlers,
  type OutboxServer,
  PRINCIPALS,
  silent,
  startOutboxServer,
} from "./outbox-server.ts";

let running: OutboxServer;
afterEach(() => running.end());

const REQUEST = { stream: "DECISION", fromSequence: 1n, toSequence: 2n };
const SERVING = 1;
const NOT_SERVING = 2;

/** What grpc.health.v1 says of the whole server: the one field of its answer, or undefined. */
function health(port: number): Promise<number | undefined> {
  const channel = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const asIs = (buffer: Buffer) => buffer;
  return new Promise((resolve) => {
    const path = "/grpc.health.v1.Health/Check";
    channel.makeUnaryRequest(path, asIs, asIs, Buffer.alloc(0), (error, answer) => {
      channel.close();
      resolve(error ? undefined : answer?.[1]);
    });
  });
}

/** A unary handler that is let finish from outside. */
function held() {
  const call = { started: false, finish: () => {} };
  const finished = new Promise<void>((resolve) => {
    call.finish = resolve;
  });
  const getOutboxHead: OutboxHandlers["getOutboxHead"] = async () => {
    call.started = true;
    await finished;
    return { unsent: 7n };
  };
  return { call, handlers: { getOutboxHead } };
}

describe("health", () => {
  test("is not serving until told, and follows what it is told", async () => {
    running = await startOutboxServer({});
    expect(await health(running.port)).toBe(NOT_SERVING);
    running.server.setServing(true);
    expect(await health(running.port)).toBe(SERVING);
    running.server.setServing(false);
    expect(await health(running.port)).toBe(NOT_SERVING);
  });
});

describe("stopping the server", () => {
  test("lets a unary call finish, and takes no new one", async () => {
    const { call, handlers } = held();
    running = await startOutboxServer(handlers, { drainMs: 10_000 });
    const answer = running.client.getOutboxHead({});
    await waitFor(() => call.started);
    const stopped = running.server.stop();
    await waitFor(async () => (await health(running.port)) === undefined);
    call.finish();
    expect((await answer).unsent).toBe(7n);
    await stopped;
  });

  test("cuts a unary call that does not finish in time", async () => {
    const { call, handlers } = held();
    running = await startOutboxServer(handlers, { drainMs: 100 });
    const failed = expect(running.client.getOutboxHead({})).rejects.toMatchObject({
      kind: "unavailable",
    });
    await waitFor(() => call.started);
    await running.server.stop();
    await failed;
    call.finish();
  });

  test("ends a stream at once, telling its reader to come again", async () => {
    let closed = false;
    running = await startOutboxServer(
      {
        replayOutbox: async function* (_, { signal }) {
          try {
            yield { subject: "1" };
            await new Promise((_resolve, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason));
            });
          } finally {
            closed = true;
          }
        },
      },
      { drainMs: 20_000 },
    );
    const stream = running.client.replayOutbox(REQUEST)[Symbol.asyncIterator]();
    await stream.next();
    const failed = expect(stream.next()).rejects.toMatchObject({
      kind: "unavailable",
      reason: "SHUTTING_DOWN",
    });
    await running.server.stop();
    await failed;
    expect(closed).toBe(true);
  });

  test("can be asked twice, and health cannot be turned on again", async () => {
    running = await startOutboxServer({});
    await Promise.all([running.server.stop(), running.server.stop()]);
    running.server.setServing(true);
    expect(await health(running.port)).toBeUndefined();
  });

  test("a port that is taken is an error of listen", async () => {
    running = await startOutboxServer({});
    const other = await startOutboxServer({});
    await expect(other.server.listen("127.0.0.1", running.port)).rejects.toThrow(/address/i);
    await other.end();
  });
});

describe("a peer that is away", () => {
  test("is waited for: a call made before it is there succeeds once it is", async () => {
    running = await startOutboxServer({});
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const client = createGrpcClient(OutboxService, { url, serviceToken: "catalog", log: silent });
    const answer = client.getOutboxHead({});
    const late = await startOutboxServer(noting().handlers);
    await late.server.listen("127.0.0.1", port);
    await expect(answer).resolves.toBeDefined();
    client.close();
    await late.end();
  });

  test("is unavailable at the deadline, and not waited for longer", async () => {
    running = await startOutboxServer({});
    const url = `http://127.0.0.1:${await freePort()}`;
    const client = createGrpcClient(OutboxService, { url, serviceToken: "catalog", log: silent });
    const away = { kind: "unavailable", reason: "PEER_UNREACHABLE" };
    const options = { deadlineMs: 300 };
    await expect(client.getOutboxHead({}, options)).rejects.toMatchObject(away);
    const stream = client.replayOutbox(REQUEST, options)[Symbol.asyncIterator]();
    await expect(stream.next()).rejects.toMatchObject(away);
    client.close();
  });

  test("that comes back is found again by the same client", async () => {
    running = await startOutboxServer(noting().handlers);
    await running.client.getOutboxHead({});
    await running.server.stop();
    const next = await startOutboxServer(noting().handlers);
    await next.server.listen("127.0.0.1", running.port);
    await expect(running.client.getOutboxHead({})).resolves.toBeDefined();
    await next.end();
  });

  test("that dies during a call is unavailable", async () => {
    const { call, handlers } = held();
    running = await startOutboxServer(handlers, { drainMs: 1 });
    const failed = expect(running.client.getOutboxHead({})).rejects.toMatchObject({
      kind: "unavailable",
    });
    await waitFor(() => call.started);
    await running.server.stop();
    await failed;
    call.finish();
  });
});

describe("the client", () => {
  test("asks for the service token at every call, so that it may rotate", async () => {
    const { contexts, handlers } = noting();
    running = await startOutboxServer(handlers);
    let token = "eve";
    const client = createGrpcClient(OutboxService, {
      url: running.url,
      serviceToken: () => token,
      log: silent,
    });
    await expect(client.getOutboxHead({})).rejects.toMatchObject({ kind: "unauthenticated" });
    token = "catalog";
    await client.getOutboxHead({});
    expect(contexts).toHaveLength(1);
    client.close();
  });

  test("passes on from one call to the next: principal, trace, deadline and signal", async () => {
    const { contexts, handlers } = noting();
    running = await startOutboxServer(handlers);
    const first = { principal: PRINCIPALS.ana, deadlineMs: 3_000 };
    await running.client.getOutboxHead({}, first);
    const [context] = contexts;
    if (!context) throw new Error("the first call did not arrive");
    await running.client.getOutboxHead({}, forwardFrom(context));
    const [, second] = contexts;
    expect(second?.principal).toEqual(PRINCIPALS.ana);
    expect(second?.traceparent).toBe(context.traceparent);
    expect(Number(second?.deadline)).toBeLessThanOrEqual(Number(context.deadline) + 50);
    expect(forwardFrom(context).signal).toBe(context.signal);
  });

  test("acts for nobody when it passes on a call of a service's own", async () => {
    const { contexts, handlers } = noting();
    running = await startOutboxServer(handlers);
    await running.client.getOutboxHead({});
    const [context] = contexts;
    expect(context && "principal" in forwardFrom(context)).toBe(false);
  });
});
