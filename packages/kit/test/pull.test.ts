import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import { AckPolicy } from "nats";
import type { Nats } from "../src/index.ts";
import { type PullRequest, pull } from "../src/pull.ts";
import { numbered, publishActivity } from "./support/activity.ts";
import { kitNats } from "./support/setup.ts";

const consumer = "puller";

let broker: Awaited<ReturnType<typeof kitNats>>;
let nats: Nats;

beforeAll(async () => {
  broker = await kitNats();
  nats = broker.nats;
});
afterAll(() => broker.close());
beforeEach(async () => {
  await nats.manager.streams.purge("ACTIVITY");
  await nats.manager.consumers.delete("ACTIVITY", consumer).catch(() => undefined);
  await nats.manager.consumers.add("ACTIVITY", {
    durable_name: consumer,
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 1_000,
  });
});

const ask = (overrides: Partial<PullRequest> = {}) =>
  pull(nats.connection, { stream: "ACTIVITY", consumer, batch: 10, waitMs: 3_000, ...overrides });

describe("pull", () => {
  test("brings what is there without waiting for the batch to fill", async () => {
    await publishActivity(nats, numbered(0, 3));
    const since = performance.now();
    const { messages, end } = await ask();
    expect(messages.map(({ streamSequence }) => Number(streamSequence % 1_000n)).length).toBe(3);
    expect(end).toBe("answered");
    expect(performance.now() - since).toBeLessThan(1_500);
  });

  test("brings at most a batch and leaves the rest", async () => {
    await publishActivity(nats, numbered(0, 12));
    expect((await ask()).messages.length).toBe(10);
    expect((await ask()).messages.length).toBe(2);
  });

  test("waits for the first message", async () => {
    const asking = ask();
    await waitFor(async () => {
      const { num_waiting } = await nats.manager.consumers.info("ACTIVITY", consumer);
      return num_waiting === 1;
    });
    await publishActivity(nats, ["a"]);
    expect((await asking).messages.length).toBe(1);
  });

  test("comes back with nothing when nothing came in time", async () => {
    expect(await ask({ waitMs: 100 })).toEqual({ messages: [], end: "answered" });
  });

  test("says when its consumer is deleted", async () => {
    const asking = ask();
    await waitFor(async () => {
      const { num_waiting } = await nats.manager.consumers.info("ACTIVITY", consumer);
      return num_waiting === 1;
    });
    await nats.manager.consumers.delete("ACTIVITY", consumer);
    expect((await asking).end).toBe("consumer_gone");
  });

  test("notices by the silence that there is no such consumer, though the server says nothing", async () => {
    expect((await ask({ consumer: "nobody", waitMs: 100 })).end).toBe("silent");
  });

  test("says when the next message alone is larger than asked for, and brings it when asked for alone", async () => {
    await publishActivity(nats, ["x".repeat(5_000)]);
    expect(await ask({ maxBytes: 1_000 })).toEqual({ messages: [], end: "too_large" });
    expect((await ask({ batch: 1 })).messages.length).toBe(1);
  });

  test("leaves nothing outstanding: no message is sent to a request that nobody reads any more", async () => {
    let publishing = true;
    const publisher = (async () => {
      for (let round = 0; round < 200; round++) await publishActivity(nats, [`r${round}`]);
      publishing = false;
    })();
    let count = 0;
    const pullers = [1, 2].map(async () => {
      while (publishing) {
        const { messages } = await ask({ waitMs: 20, batch: 3 });
        count += messages.length;
        for (const message of messages) message.ack();
      }
    });
    await Promise.all([publisher, ...pullers]);
    // Much shorter than the ack wait of 30 s, after which a message that nobody read would come again.
    await waitFor(async () => {
      const { messages } = await ask({ batch: 100, waitMs: 100 });
      count += messages.length;
      for (const message of messages) message.ack();
      await nats.connection.flush();
      return (await nats.manager.consumers.info("ACTIVITY", consumer)).num_ack_pending === 0;
    });
    expect(count).toBe(200);
  });
});
