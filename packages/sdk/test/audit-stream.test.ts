import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createClient, type DecisionRecord, LapseApiError } from "@lapse/sdk";
import { hangUp, problem, type Respond, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.close());

const event = (seq: number) => `id: ${seq}\nevent: decision\ndata: {"seq":${seq}}\n\n`;
const stream =
  (text: string, end: (response: Parameters<Respond>[0]) => void): Respond =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`retry: 2000\n\n: heartbeat\n\n${text}`, () => end(response));
  };
const ended = (text: string) => stream(text, (response) => response.end());
const broken = (text: string) => stream(text, (response) => response.destroy());
const open = (text: string) => stream(text, () => undefined);

/** Follows until that many records have come. */
async function follow(
  count: number,
  query: { after?: number; type?: string } = {},
): Promise<number[]> {
  const stop = new AbortController();
  const seqs: number[] = [];
  const client = createClient({ url: server.url, token: "t" });
  for await (const { seq } of client.audit.stream(query, { signal: stop.signal })) {
    seqs.push(seq);
    if (seqs.length === count) break;
  }
  stop.abort();
  return seqs;
}
const asked = () =>
  server.received.map(({ url }) => new URL(url, "http://x").searchParams.get("after"));

test("gives the decisions of a stream, with its filter", async () => {
  server.answer(open(event(4) + event(5)));
  expect(await follow(2, { after: 3, type: "TABLE_DROPPED" })).toEqual([4, 5]);
  expect(server.received[0]?.url).toBe("/api/v1/audit/stream?after=3&type=TABLE_DROPPED");
});

test("opens a stream that ended or broke off again, after the last record received", async () => {
  server.answer(ended(event(4)), broken(event(5)), hangUp, open(event(6)));
  expect(await follow(3)).toEqual([4, 5, 6]);
  expect(asked()).toEqual([null, "4", "5", "5"]);
});

test("opens it again when the server says that it comes back", async () => {
  const told = `event: problem\ndata: {"status":503,"code":"SHUTTING_DOWN","detail":"repeat"}\n\n`;
  server.answer(ended(event(4) + told), problem(503), open(event(5)));
  expect(await follow(2)).toEqual([4, 5]);
});

test("ends with a problem that does not pass", async () => {
  const told = `event: problem\ndata: {"status":500,"code":"INTERNAL","detail":"internal error"}\n\n`;
  server.answer(ended(told));
  await expect(follow(1)).rejects.toMatchObject({ status: 500, code: "INTERNAL" });
  server.answer(problem(403, { code: "RIGHT_MISSING" }));
  await expect(follow(1)).rejects.toBeInstanceOf(LapseApiError);
  expect(server.received).toHaveLength(2);
});

test("ends with its signal, also while it waits to open the stream again", async () => {
  const stop = new AbortController();
  server.answer((response) => {
    stop.abort();
    response.writeHead(503).end("{}");
  });
  const records: AsyncGenerator<DecisionRecord> = createClient({
    url: server.url,
    token: "t",
  }).audit.stream({}, { signal: stop.signal });
  await expect(records.next()).rejects.toThrow(/abort/i);
});
