import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ActivityBatchSchema } from "@lapse/proto/events";
import {
  ActivityNotStoredError,
  ActivityPublisher,
  type ActivityPublisherOptions,
  LapseInputError,
} from "@lapse/sdk";
import { type TestNats, testNats, waitFor } from "@lapse/test-kit";
import { connect, type JetStreamManager, type NatsConnection, NatsError } from "nats";

let broker: TestNats;
let connection: NatsConnection;
let manager: JetStreamManager;
const publishers: ActivityPublisher[] = [];

beforeAll(async () => {
  broker = await testNats();
});
afterAll(() => broker.close());
beforeEach(async () => {
  await broker.start();
  connection = await connect({
    servers: broker.url,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
  });
  manager = await connection.jetstreamManager();
  await manager.streams.add({ name: "ACTIVITY", subjects: ["activity.>"] });
});
afterEach(async () => {
  await Promise.allSettled(publishers.splice(0).map((publisher) => publisher.close()));
  if (!connection.isClosed()) {
    await broker.start();
    await waitFor(() => connection.rtt());
    await manager.streams.delete("ACTIVITY").catch(() => undefined);
    await connection.close();
  }
});

function publisher(options: Partial<ActivityPublisherOptions> = {}): ActivityPublisher {
  const made = new ActivityPublisher(connection, {
    source: "trino",
    ackTimeoutMs: 500,
    ...options,
  });
  publishers.push(made);
  return made;
}

/** What the stream holds, oldest first. */
async function stored() {
  const { messages } = (await manager.streams.info("ACTIVITY")).state;
  return Promise.all(
    Array.from({ length: messages }, async (_, at) => {
      const message = await manager.streams.getMessage("ACTIVITY", { seq: at + 1 });
      const { events } = fromBinary(ActivityBatchSchema, message.data);
      const header = (name: string) => message.header.get(name);
      return { subject: message.subject, events, header };
    }),
  );
}

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

function runProgram(
  program: string,
  ...args: string[]
): Promise<{ code: number | null; stderr: string }> {
  const loader = ["--conditions=source", "--import", "./scripts/typescript.mjs"];
  const flags = [...loader, "--input-type=module", "-e", program, ...args];
  const cwd = join(import.meta.dirname, "..", "..", "..");
  const child = spawn(process.execPath, flags, { cwd, env: { PATH: process.env.PATH } });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stderr })));
}

describe("a publisher", () => {
  test("T14 packs the uses of each kind into one message, and resolves once they are stored", async () => {
    const told = publisher();
    const [a, b] = [randomUUID(), randomUUID()];
    await Promise.all([
      told.tableRead({ tableId: a }),
      told.tableRead({ tableId: a }),
      told.tableRead({ environment: "dev", table: "bronze.trial" }),
      told.tableWritten({ tableId: a }),
      told.tableMaintained({ tableId: b }),
      told.tableChanged({ tableId: b, actor: "ana" }),
    ]);
    const messages = await stored();
    expect(messages.map(({ subject, events }) => [subject, events.length])).toEqual([
      ["activity.table.read", 3],
      ["activity.table.written", 1],
      ["activity.table.maintained", 1],
      ["activity.table.changed", 1],
    ]);
    expect(told.pending).toBe(0);
  });

  test("sends a CloudEvent in binary mode that the stream can tell a repeat by", async () => {
    await publisher({ source: "träno 1" }).tableRead({ tableId: randomUUID() });
    const [message] = await stored();
    const header = message?.header ?? (() => "");
    expect(header("ce-specversion")).toBe("1.0");
    expect(header("ce-source")).toBe("tr%C3%A4no%201");
    expect(header("ce-type")).toBe("lapse.events.v1.ActivityBatch");
    expect(header("ce-datacontenttype")).toBe("application/protobuf");
    expect(header("content-type")).toBe("application/protobuf");
    expect(Date.parse(header("ce-time"))).toBeLessThanOrEqual(Date.now());
    expect(header("ce-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(header("Nats-Msg-Id")).toBe(header("ce-id"));
  });

  test("begins another message when one is full", async () => {
    const told = publisher({ maxEvents: 10 });
    await Promise.all(Array.from({ length: 25 }, () => told.tableRead({ tableId: randomUUID() })));
    expect((await stored()).map(({ events }) => events.length).sort()).toEqual([10, 10, 5]);
  });

  test("begins another message before one is larger than NATS takes", async () => {
    const told = publisher({ maxEvents: 10_000 });
    const table = `bronze.${"ü".repeat(500)}`;
    await Promise.all(
      Array.from({ length: 1_000 }, () => told.tableRead({ environment: "dev", table })),
    );
    const messages = await stored();
    expect(messages.length).toBeGreaterThan(2);
    expect(messages.reduce((sum, { events }) => sum + events.length, 0)).toBe(1_000);
  });

  test("sends at once what is flushed", async () => {
    const told = publisher({ maxDelayMs: 30_000 });
    const use = told.tableRead({ tableId: randomUUID() });
    await told.flush();
    await use;
    expect(await stored()).toHaveLength(1);
  });

  test("sends what is left when it is closed, takes no more, and leaves the connection open", async () => {
    const told = publisher({ maxDelayMs: 30_000 });
    const use = told.tableWritten({ tableId: randomUUID() });
    await told.close();
    await use;
    expect(await rejection(told.tableRead({ tableId: randomUUID() }))).toMatchObject({
      reason: "closed",
      mayBeStored: false,
    });
    await told.close();
    expect(connection.isClosed()).toBe(false);
  });

  test("refuses a use that could not be understood, and it alone", async () => {
    const told = publisher();
    const good = told.tableRead({ tableId: randomUUID() });
    expect(await rejection(told.tableRead({ tableId: "nonsense" }))).toBeInstanceOf(
      LapseInputError,
    );
    await good;
    expect((await stored())[0]?.events).toHaveLength(1);
  });

  test.each<[string, Partial<ActivityPublisherOptions>]>([
    ["no source", { source: " " }],
    ["a source that is too long", { source: "x".repeat(201) }],
    ["empty messages", { maxEvents: 0 }],
    ["larger messages than Lapse takes", { maxEvents: 10_001 }],
    ["more patience than the stream's memory for repeats", { giveUpAfterMs: 120_000 }],
    ["less patience than it waits for company", { maxDelayMs: 500, giveUpAfterMs: 500 }],
    ["half a use waiting", { maxPending: 1.5 }],
  ])("with %s is refused", (_, options) => {
    expect(() => publisher(options)).toThrow(LapseInputError);
  });
});

describe("while NATS is away", () => {
  test("uses wait, and are stored once, when it is back in time", async () => {
    const told = publisher({ giveUpAfterMs: 60_000 });
    await told.tableRead({ tableId: randomUUID() });
    await broker.kill();
    const uses = Array.from({ length: 20 }, () => told.tableRead({ tableId: randomUUID() }));
    const flushed = told.flush();
    await waitFor(async () => told.pending === 20);
    await broker.start();
    await Promise.all(uses);
    await flushed;
    const events = (await stored()).flatMap((message) => message.events);
    expect(events).toHaveLength(21);
    expect(new Set(events.map(({ tableId }) => tableId)).size).toBe(21);
  });

  test("longer than the bound, every call is told, and flush is too", async () => {
    const told = publisher({ giveUpAfterMs: 800, maxEvents: 3 });
    await told.tableRead({ tableId: randomUUID() });
    await broker.kill();
    const outcomes = Array.from({ length: 7 }, () =>
      rejection(told.tableRead({ tableId: randomUUID() })),
    );
    expect(await rejection(told.flush())).toBeInstanceOf(ActivityNotStoredError);
    for (const outcome of await Promise.all(outcomes)) {
      expect(outcome).toMatchObject({ name: "ActivityNotStoredError", reason: "gave_up" });
    }
    expect(told.pending).toBe(0);
  });

  test("no more uses wait than the bound says: the next is refused at once, and ready waits for room", async () => {
    const told = publisher({ maxPending: 5, giveUpAfterMs: 60_000 });
    await broker.kill();
    const uses = Array.from({ length: 5 }, () => told.tableRead({ tableId: randomUUID() }));
    expect(await rejection(told.tableRead({ tableId: randomUUID() }))).toMatchObject({
      reason: "buffer_full",
      mayBeStored: false,
    });
    let room = false;
    const ready = told.ready().then(() => {
      room = true;
    });
    expect(room).toBe(false);
    await broker.start();
    await ready;
    await told.tableRead({ tableId: randomUUID() });
    await Promise.all(uses);
    expect((await stored()).flatMap((message) => message.events)).toHaveLength(6);
  });

  test("a call that nobody listens to is not dropped silently: the runtime ends the program", async () => {
    await manager.streams.delete("ACTIVITY");
    const program = `
      import { connect } from "nats";
      import { ActivityPublisher } from "@lapse/sdk";
      const connection = await connect({ servers: process.argv[1] });
      const publisher = new ActivityPublisher(connection, { source: "t", giveUpAfterMs: 300 });
      void publisher.tableRead({ tableId: "${randomUUID()}" });`;
    const { code, stderr } = await runProgram(program, broker.url);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/ActivityNotStoredError/);
  });
});

test("T17 a message whose acknowledgement is lost is sent again, and stored once", async () => {
  const jetstream = connection.jetstream();
  let attempts = 0;
  const deaf = {
    publish: async (...args: Parameters<typeof jetstream.publish>) => {
      const ack = await jetstream.publish(...args);
      attempts += 1;
      if (attempts === 1) throw new NatsError("TIMEOUT", "TIMEOUT");
      return ack;
    },
  };
  const hardOfHearing = {
    info: connection.info,
    isClosed: () => false,
    jetstream: () => deaf,
  } as unknown as NatsConnection;
  const told = new ActivityPublisher(hardOfHearing, { source: "trino" });
  await told.tableRead({ tableId: randomUUID() });
  expect(attempts).toBe(2);
  expect(await stored()).toHaveLength(1);
});

describe("a stream", () => {
  test("that is not there yet is waited for", async () => {
    await manager.streams.delete("ACTIVITY");
    const told = publisher({ giveUpAfterMs: 60_000 });
    const use = told.tableRead({ tableId: randomUUID() });
    await waitFor(async () => told.pending === 1);
    await manager.streams.add({ name: "ACTIVITY", subjects: ["activity.>"] });
    await use;
    expect(await stored()).toHaveLength(1);
  });

  test("of another name that takes the subject is none of Lapse's", async () => {
    await manager.streams.delete("ACTIVITY");
    await manager.streams.add({ name: "OTHER", subjects: ["activity.>"] });
    const told = publisher({ giveUpAfterMs: 500 });
    const outcome = await rejection(told.tableRead({ tableId: randomUUID() }));
    expect(outcome).toMatchObject({ reason: "gave_up", mayBeStored: false });
    expect((await manager.streams.info("OTHER")).state.messages).toBe(0);
    await manager.streams.delete("OTHER");
    await manager.streams.add({ name: "ACTIVITY", subjects: ["activity.>"] });
  });
});

test("a connection that was closed for good is told at once", async () => {
  const told = publisher({ giveUpAfterMs: 60_000 });
  await connection.close();
  expect(await rejection(told.tableRead({ tableId: randomUUID() }))).toMatchObject({
    reason: "closed",
  });
});
