import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "@jest/globals";
import { conflict, createGrpcServer, createMetrics, invalid } from "@lapse/kit";
import { OutboxService } from "@lapse/proto/common";
import { waitFor } from "@lapse/test-kit";
import {
  authenticate,
  noting,
  type OutboxServer,
  PRINCIPALS,
  silent,
  startOutboxServer,
} from "./outbox-server.ts";

let running: OutboxServer;
afterEach(() => running.end());

/** A call in raw bytes, as a client of any make could send it. */
function rawCall(
  method: string,
  headers: Record<string, string>,
  bytes = Buffer.alloc(0),
): Promise<ServiceError | Buffer> {
  const channel = new Client(`127.0.0.1:${running.port}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const asIs = (buffer: Buffer) => buffer;
  return new Promise((resolve) => {
    const path = `/lapse.common.v1.OutboxService/${method}`;
    channel.makeUnaryRequest(path, asIs, asIs, bytes, metadata, (error, answer) => {
      channel.close();
      resolve(error ?? answer ?? Buffer.alloc(0));
    });
  });
}
const AS_CATALOG = { authorization: "Bearer catalog" };
const onBehalfOf = (value: unknown) => ({
  "lapse-on-behalf-of": Buffer.from(JSON.stringify(value)).toString("base64url"),
});

describe("a call", () => {
  test("brings the request to its handler and the answer back, 64-bit numbers whole", async () => {
    running = await startOutboxServer({
      getOutboxHead: async () => ({
        heads: [{ stream: "DECISION", lastSequence: 2n ** 63n + 1n }],
        oldestUnsentAt: { seconds: 5n, nanos: 0 },
      }),
    });
    const answer = await running.client.getOutboxHead({});
    expect(answer.heads[0]?.lastSequence).toBe(2n ** 63n + 1n);
    expect(answer.oldestUnsentAt?.seconds).toBe(5n);
  });

  test("tells the handler who calls, by when, in which trace and with which key", async () => {
    const { contexts, handlers } = noting();
    running = await startOutboxServer(handlers);
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const before = Date.now();
    await running.client.getOutboxHead(
      {},
      { idempotencyKey: "k1", traceparent, deadlineMs: 5_000 },
    );
    const [context] = contexts;
    expect(context).toMatchObject({
      caller: PRINCIPALS.catalog,
      principal: PRINCIPALS.catalog,
      idempotencyKey: "k1",
      traceparent,
      method: "lapse.common.v1.OutboxService/GetOutboxHead",
    });
    expect(context?.requestBytes).toBeInstanceOf(Uint8Array);
    expect(Number(context?.deadline) - before).toBeGreaterThan(4_000);
    expect(Number(context?.deadline) - before).toBeLessThan(6_000);
  });

  test("has a trace of its own where the caller has none", async () => {
    const { contexts, handlers } = noting();
    running = await startOutboxServer(handlers);
    await running.client.getOutboxHead({});
    expect(contexts[0]?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(contexts[0]?.idempotencyKey).toBeUndefined();
  });

  test("is logged once with method, code, time and subject, and measured", async () => {
    running = await startOutboxServer(noting().handlers, { level: "debug" });
    await running.client.getOutboxHead({}, { principal: PRINCIPALS.ana });
    expect(running.lines).toEqual([
      expect.objectContaining({
        level: "debug",
        method: "lapse.common.v1.OutboxService/GetOutboxHead",
        code: "OK",
        ms: expect.any(Number),
        subject: "ana",
        caller: "catalog",
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      }),
    ]);
    expect(await running.metrics.registry.metrics()).toContain(
      'lapse_grpc_server_seconds_count{service="test",method="lapse.common.v1.OutboxService/GetOutboxHead",code="OK"} 1',
    );
  });
});

describe("who calls", () => {
  test.each<[string, Record<string, string>]>([
    ["no credential", {}],
    ["another scheme", { authorization: "Basic YTpi" }],
    ["a bare token", { authorization: "catalog" }],
    ["an empty token", { authorization: "Bearer " }],
    ["a token that is not accepted", { authorization: "Bearer eve" }],
  ])("is asked for: %s is UNAUTHENTICATED, and no handler runs", async (_, headers) => {
    const { contexts, handlers } = noting();
    running = await startOutboxServer(handlers);
    expect(await rawCall("GetOutboxHead", headers)).toMatchObject({
      code: status.UNAUTHENTICATED,
    });
    expect(contexts).toEqual([]);
  });

  test("may be a service acting for somebody, whom the handler is told", async () => {
    const { contexts, handlers } = noting();
    running = await startOutboxServer(handlers);
    await running.client.getOutboxHead({}, { principal: PRINCIPALS.ana });
    expect(contexts[0]).toMatchObject({
      principal: PRINCIPALS.ana,
      caller: PRINCIPALS.catalog,
    });
  });

  test("may not act for somebody unless it is a service", async () => {
    const { contexts, handlers } = noting();
    running = await startOutboxServer(handlers);
    const admin = { ...PRINCIPALS.ana, roles: ["superadmin"] };
    const headers = { authorization: "Bearer ana", ...onBehalfOf(admin) };
    expect(await rawCall("GetOutboxHead", headers)).toMatchObject({
      code: status.PERMISSION_DENIED,
    });
    expect(contexts).toEqual([]);
  });

  test.each<[string, Record<string, string>]>([
    ["no JSON", { "lapse-on-behalf-of": "!!!" }],
    ["no principal", onBehalfOf({ subject: "ana" })],
    ["a person of every tenant", onBehalfOf({ subject: "ana", tenant: "*", kind: "person" })],
    ["null", onBehalfOf(null)],
  ])("acting for what is no principal is refused: %s", async (_, header) => {
    running = await startOutboxServer(noting().handlers);
    expect(await rawCall("GetOutboxHead", { ...AS_CATALOG, ...header })).toMatchObject({
      code: status.INVALID_ARGUMENT,
    });
  });

  test("need not be known for health and reflection", async () => {
    running = await startOutboxServer({});
    const channel = new Client(`127.0.0.1:${running.port}`, credentials.createInsecure());
    const asIs = (buffer: Buffer) => buffer;
    const call = channel.makeBidiStreamRequest(
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      asIs,
      asIs,
    );
    const listServices = Buffer.from([0x3a, 0x01, 0x2a]);
    call.write(listServices);
    call.end();
    let answer = "";
    for await (const bytes of call) answer += (bytes as Buffer).toString("latin1");
    channel.close();
    expect(answer).toContain("lapse.common.v1.OutboxService");
  });
});

describe("what goes wrong", () => {
  test("an error of ours arrives whole, its cause does not", async () => {
    running = await startOutboxServer({
      getOutboxHead: async () => {
        throw invalid("RANGE_INVALID", "from must not be after to – give it lower", {
          details: { from: "2", to: "1" },
          violations: [{ field: "/from_sequence", description: "is after to_sequence" }],
          cause: new Error("hunter2"),
        });
      },
    });
    const error = await running.client.getOutboxHead({}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: "LapseError",
      kind: "invalid",
      reason: "RANGE_INVALID",
      message: "from must not be after to – give it lower",
      details: { from: "2", to: "1" },
      violations: [{ field: "/from_sequence", description: "is after to_sequence" }],
    });
    expect(
      JSON.stringify((error as { cause: ServiceError }).cause.metadata.toJSON()),
    ).not.toContain("hunter2");
  });

  test("a handler that throws before it awaits is no different", async () => {
    running = await startOutboxServer({
      getOutboxHead: () => {
        throw conflict("MOVED", "read again");
      },
    });
    await expect(running.client.getOutboxHead({})).rejects.toMatchObject({ reason: "MOVED" });
  });

  test("what nobody expected is INTERNAL with a reference, which the log has with the cause", async () => {
    running = await startOutboxServer(
      {
        getOutboxHead: async () => {
          throw new Error("password is hunter2");
        },
      },
      { level: "error" },
    );
    const error = await running.client.getOutboxHead({}).catch((thrown: unknown) => thrown);
    const { message, details } = error as { message: string; details: { reference: string } };
    expect(error).toMatchObject({ kind: "internal", reason: "INTERNAL" });
    expect(message).toBe(`internal error (reference ${details.reference})`);
    expect(running.lines).toEqual([
      expect.objectContaining({
        level: "error",
        code: "INTERNAL",
        err: expect.objectContaining({
          message,
          cause: expect.objectContaining({ message: "password is hunter2" }),
        }),
      }),
    ]);
  });

  test("an answer that cannot be encoded is INTERNAL, logged and not a crash", async () => {
    running = await startOutboxServer(
      { getOutboxHead: async () => ({ unsent: -1n }) },
      { level: "error" },
    );
    await expect(running.client.getOutboxHead({})).rejects.toMatchObject({ kind: "internal" });
    expect(running.lines).toHaveLength(1);
  });

  test("bytes that are no request are INVALID_ARGUMENT, and only for a known caller", async () => {
    running = await startOutboxServer(noting().handlers);
    const garbage = Buffer.from([0xff, 0xff, 0xff]);
    expect(await rawCall("GetOutboxHead", AS_CATALOG, garbage)).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: "the request is not a lapse.common.v1.GetOutboxHeadRequest",
    });
    expect(await rawCall("GetOutboxHead", {}, garbage)).toMatchObject({
      code: status.UNAUTHENTICATED,
    });
  });

  test("a request above 4 MiB is RESOURCE_EXHAUSTED", async () => {
    running = await startOutboxServer(noting().handlers);
    const large = Buffer.alloc(4 * 1024 * 1024 + 1);
    expect(await rawCall("GetOutboxHead", AS_CATALOG, large)).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
    });
  });

  test("a method that does not exist is UNIMPLEMENTED", async () => {
    running = await startOutboxServer({});
    expect(await rawCall("Nope", AS_CATALOG)).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  test.each(["", "with space", "ü", "x".repeat(201)])(
    "the idempotency key %p is refused before it is sent",
    async (idempotencyKey) => {
      running = await startOutboxServer(noting().handlers);
      await expect(running.client.getOutboxHead({}, { idempotencyKey })).rejects.toMatchObject({
        reason: "IDEMPOTENCY_KEY_INVALID",
      });
    },
  );

  test("a method of a kind that is not supported is refused when the server is made", async () => {
    running = await startOutboxServer({});
    const [head] = OutboxService.methods;
    if (!head) throw new Error("OutboxService has methods");
    const methods = [{ ...head, methodKind: "bidi_streaming" as const }];
    const odd = { ...OutboxService, methods } as typeof OutboxService;
    expect(() =>
      createGrpcServer({
        services: [[odd, {} as never]],
        authenticate,
        log: silent,
        metrics: createMetrics("test"),
      }),
    ).toThrow(/bidi_streaming is not supported/);
  });
});

describe("giving up", () => {
  /** A handler that waits until its call is given up. */
  async function startWaiting() {
    const seen = { started: false, aborted: false };
    running = await startOutboxServer(
      {
        getOutboxHead: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            seen.started = true;
            signal.addEventListener("abort", () => {
              seen.aborted = true;
              reject(signal.reason);
            });
          }),
      },
      { level: "info" },
    );
    return seen;
  }

  test("a deadline that passes is unavailable to the caller and aborts the handler", async () => {
    const seen = await startWaiting();
    await expect(running.client.getOutboxHead({}, { deadlineMs: 100 })).rejects.toMatchObject({
      kind: "unavailable",
      reason: "DEADLINE_EXCEEDED",
    });
    await waitFor(() => seen.aborted);
    await waitFor(() => running.lines.find(({ code }) => code === "DEADLINE_EXCEEDED"));
  });

  test("the earlier of two deadlines counts", async () => {
    await startWaiting();
    const call = running.client.getOutboxHead({}, { deadline: new Date(Date.now() + 100) });
    await expect(call).rejects.toMatchObject({ reason: "DEADLINE_EXCEEDED" });
  });

  test("a caller that leaves aborts the handler", async () => {
    const seen = await startWaiting();
    const leave = new AbortController();
    const call = running.client.getOutboxHead({}, { signal: leave.signal });
    const failed = expect(call).rejects.toMatchObject({
      kind: "unavailable",
      reason: "CANCELLED",
    });
    await waitFor(() => seen.started);
    leave.abort();
    await failed;
    await waitFor(() => seen.aborted);
    await waitFor(() => running.lines.find(({ code }) => code === "CANCELLED"));
  });

  test("a call of one who has left already does not reach the handler", async () => {
    const seen = await startWaiting();
    const call = running.client.getOutboxHead({}, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ reason: "CANCELLED" });
    expect(seen.started).toBe(false);
  });

  test("a call that went well does not abort its signal", async () => {
    const { contexts, handlers } = noting();
    running = await startOutboxServer(handlers);
    await running.client.getOutboxHead({});
    await running.client.getOutboxHead({});
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });
});
