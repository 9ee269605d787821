import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { fastify } from "fastify";
import type { Api } from "./api.ts";
import { closeConnectionsWhenStopping } from "./connections.ts";

let api: Api;
let port: number;
let sockets: Socket[];
let stopping: Promise<void>;
/** Lets the request that waits be answered. */
let answer: () => void;

const start = async (drainMs: number) => {
  api = fastify();
  closeConnectionsWhenStopping(api, drainMs);
  stopping = new Promise<void>((resolve) => {
    api.addHook("preClose", async () => resolve());
  });
  const wait = new Promise<void>((resolve) => {
    answer = resolve;
  });
  api.get("/slow", async () => {
    await wait;
    return "done";
  });
  api.get("/fast", async () => "done");
  port = Number(new URL(await api.listen({ host: "127.0.0.1", port: 0 })).port);
};

beforeEach(() => {
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  answer();
  await api.close();
});

const open = async () => {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  // A connection that is cut may say so; its end is what the tests look at.
  socket.on("error", () => undefined);
  socket.setEncoding("utf8");
  await once(socket, "connect");
  return socket;
};

const ask = async (path: string) => {
  const socket = await open();
  const asked = once(api.server, "request");
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await asked;
  return socket;
};

const rest = async (socket: Socket) => {
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
};

test("a connection that was made in advance does not hold up the stop", async () => {
  await start(60_000);
  const accepted = once(api.server, "connection");
  const socket = await open();
  await accepted;
  const ended = rest(socket);
  await api.close();
  expect(await ended).toBe("");
});

test("a connection that waits for a next request is closed", async () => {
  await start(60_000);
  const socket = await ask("/fast");
  await once(socket, "data");
  const ended = rest(socket);
  await api.close();
  expect(await ended).toBe("");
});

test("a request under way is answered, and its connection closed", async () => {
  await start(60_000);
  const text = rest(await ask("/slow"));
  const closed = api.close();
  await stopping;
  answer();
  await closed;
  expect(await text).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*done$/);
});

test("a request that is not answered in time is cut off", async () => {
  await start(50);
  const text = rest(await ask("/slow"));
  await api.close();
  expect(await text).toBe("");
});
