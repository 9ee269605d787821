import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { connect, StorageType } from "nats";
import { type TestNats, testNats } from "../src/index.ts";

let nats: TestNats;

beforeAll(async () => {
  nats = await testNats();
});
afterAll(() => nats.close());

async function streamNames(url: string): Promise<string[]> {
  const connection = await connect({ servers: url, reconnect: false });
  try {
    const manager = await connection.jetstreamManager();
    return (await manager.streams.list().next()).map(({ config }) => config.name);
  } finally {
    await connection.close();
  }
}

async function addStream(url: string, name: string): Promise<void> {
  const connection = await connect({ servers: url });
  const manager = await connection.jetstreamManager();
  await manager.streams.add({ name, subjects: [`${name}.>`], storage: StorageType.File });
  await connection.close();
}

// A server that was given is neither ours to stop nor there twice.
const withOwnServer = process.env.TEST_NATS_URL ? test.skip : test;

describe("testNats", () => {
  test("is empty at first", async () => {
    expect(await streamNames(nats.url)).toEqual([]);
  });

  withOwnServer("keeps a stream over a stop and over a kill", async () => {
    await addStream(nats.url, "KEPT");
    for (const end of [nats.stop, nats.kill]) {
      await end();
      await expect(streamNames(nats.url)).rejects.toThrow("CONNECTION_REFUSED");
      await nats.start();
      expect(await streamNames(nats.url)).toEqual(["KEPT"]);
    }
  });

  withOwnServer("gives the next caller a server without any of it", async () => {
    const other = await testNats();
    try {
      expect(await streamNames(other.url)).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
